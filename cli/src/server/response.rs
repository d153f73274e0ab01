//! Responses that servers generate, and why the limits rejected a request.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};
use serde_json::{Value, json};

pub(crate) type ServerResponse = Response<Body>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Why the rate limit layer rejected a request, in the extensions of its response.
#[derive(Clone, Copy)]
pub(crate) enum RejectionReason {
    Limited,
    /// All slots of a concurrency limit are held.
    AllSlotsHeld,
    /// The store failed.
    Unavailable,
    KeyMissing,
    KeyAmbiguous,
}

/// Indented JSON.
pub(crate) struct PrettyJson(pub(crate) Value);

impl IntoResponse for PrettyJson {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, JSON)], format!("{:#}\n", self.0)).into_response()
    }
}

/// An error response, with a body like those of the rate limit layer.
pub(crate) fn error_response(status: StatusCode, error: &str, message: &str) -> ServerResponse {
    let body = json!({ "error": error, "message": message }).to_string();
    (status, [(CONTENT_TYPE, JSON)], body).into_response()
}
