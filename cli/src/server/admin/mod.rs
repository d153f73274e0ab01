//! The admin address: health, metrics, rules and keys, for operators.

mod error;
mod keys;
mod status;

use axum::{
    Router,
    extract::Request,
    middleware::{Next, from_fn},
    response::{IntoResponse, Response},
    routing::get,
};
use http::StatusCode;
use tokio::{net::TcpListener, sync::watch};
use tollgate::RuleSet;

use self::error::AdminError;
use super::{metrics::ServerMetrics, store::ServerStore};
use crate::common::local_host::has_local_host;

#[derive(Clone)]
pub(crate) struct AdminState {
    pub(crate) rules: RuleSet,
    pub(crate) store: ServerStore,
    pub(crate) metrics: ServerMetrics,
    pub(crate) shutdown: watch::Receiver<bool>,
}

/// Serves until the process ends.
pub(crate) async fn serve(listener: TcpListener, state: AdminState) {
    let is_loopback = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let mut router = Router::new()
        .route("/healthz", get(status::health))
        .route("/metrics", get(status::metrics))
        .route("/limits", get(status::limits))
        .route("/keys/{limit}/{*identity}", get(keys::peek).delete(keys::reset))
        .fallback(not_found)
        .with_state(state);
    if is_loopback {
        router = router.layer(from_fn(require_local_host));
    }
    // axum::serve retries failed accepts and never returns an error.
    axum::serve(listener, router).await.ok();
}

async fn require_local_host(request: Request, next: Next) -> Response {
    match has_local_host(&request) {
        true => next.run(request).await,
        false => {
            let message = "the Host header must be an IP address or localhost";
            AdminError::new(StatusCode::FORBIDDEN, message).into_response()
        }
    }
}

async fn not_found() -> AdminError {
    AdminError::not_found("not found; the endpoints are /healthz, /metrics, /limits and /keys/<limit>/<identity>")
}
