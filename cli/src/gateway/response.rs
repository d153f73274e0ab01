//! Responses in place of one of the upstream.

use http::StatusCode;

use crate::server::response::{ServerResponse, error_response};

/// Marks a response of the upstream, in its extensions.
#[derive(Clone, Copy)]
pub(crate) struct FromUpstream;

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
    pub(crate) fn into_response(self) -> ServerResponse {
        let mut response = error_response(self.status(), self.name(), self.message());
        response.extensions_mut().insert(self);
        response
    }
}
