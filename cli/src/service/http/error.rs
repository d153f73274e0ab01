//! Errors of the proxy's configuration.

use http::{HeaderValue, StatusCode, header::ALLOW};

use crate::server::response::{ServerResponse, error_response};

/// Why the limits were not asked.
pub(super) enum CheckError {
    BadRequest(String),
    NotFound,
    /// The methods that are allowed.
    MethodNotAllowed(&'static str),
}

impl CheckError {
    /// The name in metrics and response bodies.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::BadRequest(_) => "bad_request",
            Self::NotFound => "not_found",
            Self::MethodNotAllowed(_) => "method_not_allowed",
        }
    }

    pub(super) fn into_response(self) -> ServerResponse {
        let name = self.name();
        match self {
            Self::BadRequest(message) => error_response(StatusCode::BAD_REQUEST, name, &message),
            Self::NotFound => {
                let message = "The endpoints are /check and /healthz. The path of the original request is expected in X-Forwarded-Uri.";
                error_response(StatusCode::NOT_FOUND, name, message)
            }
            Self::MethodNotAllowed(allowed) => {
                let message = format!(
                    "The methods of this endpoint are {allowed}. The method of the original request is expected in X-Forwarded-Method."
                );
                let mut response = error_response(StatusCode::METHOD_NOT_ALLOWED, name, &message);
                response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
                response
            }
        }
    }
}
