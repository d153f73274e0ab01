//! Error responses.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::server::response::PrettyJson;

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
