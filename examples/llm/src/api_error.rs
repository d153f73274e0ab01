//! Errors in the format of OpenAI's API, which its clients parse.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// A response with an error.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, Json(body(&self.message, kind(self.status), None))).into_response()
    }
}

/// The error type of a status that no limit is the reason for.
pub(crate) fn kind(status: StatusCode) -> &'static str {
    match status.is_server_error() {
        true => "server_error",
        false => "invalid_request_error",
    }
}

pub(crate) fn body(message: &str, kind: &str, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}
