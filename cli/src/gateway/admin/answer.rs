//! Answers in JSON.

use axum::{
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// Something to show, a field a line.
pub(super) struct Shown(pub(super) Value);

impl IntoResponse for Shown {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], format!("{:#}\n", self.0)).into_response()
    }
}

/// Why there is nothing to show.
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Shown(json!({ "message": self.message }))).into_response()
    }
}
