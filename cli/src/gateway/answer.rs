//! Answers: the service's, and what the gateway itself says where there is nothing to pass on.

use std::convert::Infallible;

use axum::body::Body;
use http::{HeaderValue, Response, StatusCode, header::CONTENT_TYPE};

pub(crate) type Answer = Response<Body>;
/// There is an answer to every failure.
pub(crate) type Never = Infallible;

/// In the extensions of an answer that the service gave.
#[derive(Clone, Copy)]
pub(crate) struct Passed;

/// Why a request was not passed on, or what it was passed to did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    /// What the client sent can be read in more than one way, or in none.
    BadRequest(&'static str),
    /// The client stopped sending in the middle of a body.
    ClientTooSlow,
    /// The service cannot be reached, or does not speak HTTP.
    BadUpstream,
    /// The service takes too long.
    UpstreamTooSlow,
    /// The service is the gateway itself.
    Loop,
}

impl Failing {
    fn status(self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::ClientTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::BadUpstream => StatusCode::BAD_GATEWAY,
            Self::UpstreamTooSlow => StatusCode::GATEWAY_TIMEOUT,
            Self::Loop => StatusCode::LOOP_DETECTED,
        }
    }

    /// As metrics, logs and clients have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BadRequest(_) => "bad_request",
            Self::ClientTooSlow => "client_timeout",
            Self::BadUpstream => "bad_upstream",
            Self::UpstreamTooSlow => "upstream_timeout",
            Self::Loop => "loop_detected",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::BadRequest(why) => why,
            Self::ClientTooSlow => "The request's body did not arrive in time.",
            Self::BadUpstream => "The service behind this gateway cannot be reached or understood.",
            Self::UpstreamTooSlow => "The service behind this gateway did not answer in time.",
            Self::Loop => "This gateway was told to pass requests on to itself.",
        }
    }

    /// The answer. It knows what it is about, for whoever counts answers.
    pub(crate) fn answer(self) -> Answer {
        let (error, message) = (self.name(), self.message());
        let mut response = Answer::new(format!(r#"{{"error":"{error}","message":"{message}"}}"#).into());
        *response.status_mut() = self.status();
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response.extensions_mut().insert(self);
        response
    }
}
