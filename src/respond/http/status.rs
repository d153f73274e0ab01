//! The status of an answer.

use http::StatusCode;

use super::super::Rejection;
use crate::extract::KeyError;

impl Rejection {
    /// The status of an answer: 429 when limited, 503 when unavailable, 403 when denied, and for what has no key 400 or 500.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Limited(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Denied => StatusCode::FORBIDDEN,
            Self::Key(KeyError::Missing { .. }) => StatusCode::BAD_REQUEST,
            Self::Key(KeyError::NotProvided { .. }) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}
