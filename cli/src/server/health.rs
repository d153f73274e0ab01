//! `/healthz`.

use axum::response::IntoResponse;
use http::StatusCode;
use serde_json::json;
use tokio::sync::watch;

use super::{
    response::{PrettyJson, ServerResponse},
    store::ServerStore,
};

/// 200 also while the store fails, because a restart would not help; 503 after `shutdown`.
pub(crate) async fn health(store: &ServerStore, shutdown: &watch::Receiver<bool>) -> ServerResponse {
    let health = store.check_health().await;
    let (status, name) = match (*shutdown.borrow(), health.is_up) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, "ending"),
        (false, true) => (StatusCode::OK, "ok"),
        (false, false) => (StatusCode::OK, "store_failing"),
    };
    let mut body = json!({ "status": name, "store": health.description });
    if let Some(on_failure) = store.on_failure() {
        body["on_store_failure"] = on_failure.to_string().into();
    }
    (status, PrettyJson(body)).into_response()
}
