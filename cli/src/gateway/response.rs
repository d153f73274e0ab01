//! Responses: those of the upstream, and those that the gateway generates.

use axum::body::Body;
use http::{HeaderValue, Response, StatusCode, header::CONTENT_TYPE};

pub(crate) type ProxyResponse = Response<Body>;

/// Marks a response of the upstream, in its extensions.
#[derive(Clone, Copy)]
pub(crate) struct FromUpstream;

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

/// Why a request was not forwarded, or the upstream did not respond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProxyError {
    /// The request is invalid or ambiguous.
    BadRequest(&'static str),
    /// The client stopped sending in the middle of a body.
    ClientTimeout,
    /// The upstream cannot be reached, or its response is not HTTP.
    BadUpstream,
    /// The upstream did not respond in time.
    UpstreamTimeout,
    /// The upstream is the gateway itself.
    LoopDetected,
}

impl ProxyError {
    fn status(self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::ClientTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::BadUpstream => StatusCode::BAD_GATEWAY,
            Self::UpstreamTimeout => StatusCode::GATEWAY_TIMEOUT,
            Self::LoopDetected => StatusCode::LOOP_DETECTED,
        }
    }

    /// The name in metrics, logs and response bodies.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BadRequest(_) => "bad_request",
            Self::ClientTimeout => "client_timeout",
            Self::BadUpstream => "bad_upstream",
            Self::UpstreamTimeout => "upstream_timeout",
            Self::LoopDetected => "loop_detected",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::BadRequest(message) => message,
            Self::ClientTimeout => "The request body did not arrive in time.",
            Self::BadUpstream => "The upstream service cannot be reached or sent an invalid response.",
            Self::UpstreamTimeout => "The upstream service did not respond in time.",
            Self::LoopDetected => "The gateway is configured to forward requests to itself.",
        }
    }

    /// The error response. Its extensions contain the error, for metrics.
    pub(crate) fn into_response(self) -> ProxyResponse {
        let (error, message) = (self.name(), self.message());
        let mut response = ProxyResponse::new(format!(r#"{{"error":"{error}","message":"{message}"}}"#).into());
        *response.status_mut() = self.status();
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response.extensions_mut().insert(self);
        response
    }
}
