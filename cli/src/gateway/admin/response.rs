//! JSON responses.

use axum::{
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// Indented JSON.
pub(super) struct PrettyJson(pub(super) Value);

impl IntoResponse for PrettyJson {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], format!("{:#}\n", self.0)).into_response()
    }
}

/// An error response with a message.
pub(super) struct AdminError {
    status: StatusCode,
    message: String,
}

impl AdminError {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message }
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }
}

impl IntoResponse for AdminError {
    fn into_response(self) -> Response {
        (self.status, PrettyJson(json!({ "message": self.message }))).into_response()
    }
}
