//! `/healthz`, `/metrics` and `/limits`.

use axum::{
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::IntoResponse,
};
use serde_json::{Value, json};

use super::{
    AdminState,
    response::{AdminError, PrettyJson},
};

/// The content type of Prometheus's text format.
const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// `/healthz`: 200 also while the store fails, because a restart of the gateway would not help.
pub(super) async fn health(State(state): State<AdminState>) -> impl IntoResponse {
    let store = state.store.check_health().await;
    let (status, name) = match (*state.shutdown.borrow(), store.is_up) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, "ending"),
        (false, true) => (StatusCode::OK, "ok"),
        (false, false) => (StatusCode::OK, "store_failing"),
    };
    (
        status,
        PrettyJson(json!({ "status": name, "store": store.description })),
    )
}

/// `/metrics`, for Prometheus.
pub(super) async fn metrics(State(state): State<AdminState>) -> impl IntoResponse {
    // A call of the store here would change the metrics.
    let is_up = state.store.is_up();
    ([(CONTENT_TYPE, PROMETHEUS_TEXT)], state.metrics.render(is_up))
}

/// `/limits`: the current rules, as JSON with the fields of the rules file.
pub(super) async fn limits(State(state): State<AdminState>) -> Result<PrettyJson, AdminError> {
    let rules: Result<Value, _> = toml::from_str(&state.rules.text());
    // Cannot fail: the text was parsed when the rules were loaded.
    rules
        .map(PrettyJson)
        .map_err(|error| AdminError::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}
