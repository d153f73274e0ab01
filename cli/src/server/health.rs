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
    let store = store.check_health().await;
    let (status, name) = match (*shutdown.borrow(), store.is_up) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, "ending"),
        (false, true) => (StatusCode::OK, "ok"),
        (false, false) => (StatusCode::OK, "store_failing"),
    };
    let body = PrettyJson(json!({ "status": name, "store": store.description }));
    (status, body).into_response()
}
