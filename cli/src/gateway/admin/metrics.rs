//! `/metrics`: figures for Prometheus.

use axum::{extract::State, http::header::CONTENT_TYPE, response::IntoResponse};

use super::state::Admin;

/// The type of Prometheus's text.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) async fn show(State(admin): State<Admin>) -> impl IntoResponse {
    // Asking the store here would count in what is shown.
    let is_up = admin.counting.is_up();
    ([(CONTENT_TYPE, PROMETHEUS)], admin.measures.page(is_up))
}
