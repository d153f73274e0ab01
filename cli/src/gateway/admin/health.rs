//! `/healthz`: whether the gateway serves. It does so without its store too, so that nobody restarts it for that.

use axum::{extract::State, http::StatusCode, response::IntoResponse};
use serde_json::json;

use super::{answer::Shown, state::Admin};

pub(super) async fn show(State(admin): State<Admin>) -> impl IntoResponse {
    let store = admin.counting.health().await;
    let (status, word) = match (*admin.ending.borrow(), store.is_up) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, "ending"),
        (false, true) => (StatusCode::OK, "ok"),
        (false, false) => (StatusCode::OK, "store_failing"),
    };
    (status, Shown(json!({ "status": word, "store": store.description })))
}
