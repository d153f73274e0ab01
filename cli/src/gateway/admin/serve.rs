//! Who answers what.

use axum::{Router, middleware::from_fn, routing::get};
use tokio::net::TcpListener;

use super::{answer::Refusal, health, keys, limits, local, metrics, state::Admin};

/// Answers until the program ends.
pub(crate) async fn serve(listener: TcpListener, admin: Admin) {
    let is_local = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
    let mut router = Router::new()
        .route("/healthz", get(health::show))
        .route("/metrics", get(metrics::show))
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

async fn nothing() -> Refusal {
    Refusal::not_found("there is nothing here: there are /healthz, /metrics, /limits and /keys/<limit>/<identity>")
}
