//! `/healthz`, `/metrics` and `/limits`.

use axum::{
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde_json::Value;

use super::{AdminState, error::AdminError};
use crate::server::{self, response::PrettyJson};

/// The content type of Prometheus's text format.
const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// `/healthz`.
pub(super) async fn health(State(state): State<AdminState>) -> Response {
    server::health(&state.store, &state.shutdown).await
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
