//! Where operators look: how the gateway is, what is in force, and how a key stands.

mod answer;
mod health;
mod keys;
mod limits;
mod local;

use axum::{
    Router, extract::State, http::header::CONTENT_TYPE, middleware::from_fn, response::IntoResponse, routing::get,
};
use tokio::{net::TcpListener, sync::watch};
use tollgate::RuleSet;

use self::answer::Refusal;
use crate::{counting::Counting, measures::Measures};

/// The type of Prometheus's text.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What there is to look at.
#[derive(Clone)]
pub(crate) struct Admin {
    pub(crate) rules: RuleSet,
    pub(crate) counting: Counting,
    pub(crate) measures: Measures,
    pub(crate) ending: watch::Receiver<bool>,
}

/// Answers until the program ends.
pub(crate) async fn serve(listener: TcpListener, admin: Admin) {
    let is_local = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let mut router = Router::new()
        .route("/healthz", get(health::show))
        .route("/metrics", get(metrics))
        .route("/limits", get(limits::show))
        .route("/keys/{limit}/{*identity}", get(keys::show).delete(keys::forgive))
        .fallback(nothing)
        .with_state(admin);
    if is_local {
        router = router.layer(from_fn(local::only));
    }
    // It only ends when its listener is gone.
    axum::serve(listener, router).await.ok();
}

async fn metrics(State(admin): State<Admin>) -> impl IntoResponse {
    let is_up = admin.counting.health().is_none_or(|health| health.is_up());
    ([(CONTENT_TYPE, PROMETHEUS)], admin.measures.page(is_up))
}

async fn nothing() -> Refusal {
    Refusal::not_found("there is nothing here: there are /healthz, /metrics, /limits and /keys/<limit>/<identity>")
}
