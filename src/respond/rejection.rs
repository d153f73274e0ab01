//! The reasons to reject a request.

use std::{error, fmt, sync::Arc, time::Duration};

use http::StatusCode;

use super::effective_window;
use crate::{decision::Decision, extract::KeyError};

/// The reason why a request is rejected.
///
/// It displays as a sentence for clients. [`status`](Self::status) returns the HTTP status.
///
/// ```
/// use axum::response::{IntoResponse, Redirect, Response};
/// use tollgate::{Global, MemoryStore, Quota, RateLimitLayer, Rejection};
///
/// /// Redirects a denied request to a page that explains the limit, and responds to other rejections with text.
/// fn respond(rejection: Rejection) -> Response {
///     match &rejection {
///         Rejection::Limited(_) => Redirect::to("/slow-down").into_response(),
///         _ => (rejection.status(), rejection.to_string()).into_response(),
///     }
/// }
/// assert_eq!(respond(Rejection::Blocked).status(), 403);
///
/// let limit = RateLimitLayer::token_bucket("pages", Quota::per_minute(60), Global, MemoryStore::new());
/// # let _: axum::Router = axum::Router::new().layer(
/// limit.respond_with(respond)
/// # );
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Rejection {
    /// A limit denied the request.
    Limited(Arc<Decision>),
    /// The store failed, and the layer fails closed.
    Unavailable(Arc<dyn error::Error + Send + Sync>),
    /// The request has no key, or an ambiguous one.
    Key(KeyError),
    /// The request is on the layer's [block list](crate::RateLimitLayer::block).
    Blocked,
}

impl Rejection {
    /// The HTTP status: 429 when limited, unless a concurrency limit [says 503](crate::Concurrency::unavailable_when_full), 503 when
    /// unavailable, 403 when blocked, and 400 or 500 without a key.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Limited(decision) if decision.is_unavailable() => StatusCode::SERVICE_UNAVAILABLE,
            Self::Limited(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Blocked => StatusCode::FORBIDDEN,
            Self::Key(KeyError::Missing { .. } | KeyError::Ambiguous { .. }) => StatusCode::BAD_REQUEST,
            Self::Key(KeyError::NotProvided { .. }) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The time until a retry can succeed: `None` for a request that costs more than the limit's capacity, has no key or is
    /// blocked.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited(decision) => decision.retry_after(),
            Self::Unavailable(_) => Some(Duration::from_secs(1)),
            Self::Key(_) | Self::Blocked => None,
        }
    }

    /// The time after which to retry in whole seconds, as in `Retry-After`: rounded up, so that no client retries too early, at least 1,
    /// and not before the end of the effective window that `RateLimit` reports for the tiers that denied the request.
    ///
    /// It is longer than [`retry_after`](Self::retry_after) for a request that costs more than what remains: what remains is for
    /// other requests meanwhile.
    pub fn retry_after_secs(&self) -> Option<u64> {
        let wait = self.retry_after()?;
        let wait = (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1);
        let Self::Limited(decision) = self else {
            return Some(wait);
        };
        let denied = decision.tiers().iter().filter(|tier| !tier.passes());
        denied.filter_map(effective_window::seconds).chain([wait]).max()
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.retry_after_secs()) {
            (Self::Limited(decision), Some(seconds)) if decision.waits_for_slot() => {
                let plural = if seconds == 1 { "" } else { "s" };
                write!(
                    f,
                    "Too many requests at once. Please retry after {seconds} second{plural}."
                )
            }
            (Self::Limited(_), Some(1)) => f.write_str("Too many requests. Please retry after 1 second."),
            (Self::Limited(_), Some(seconds)) => write!(f, "Too many requests. Please retry after {seconds} seconds."),
            (Self::Limited(_), None) => f.write_str("This request asks for more than its limit ever allows."),
            (Self::Unavailable(_), _) => f.write_str("The rate limiter cannot be reached. Please retry."),
            // The error names a type of the service, which its log contains.
            (Self::Key(KeyError::NotProvided { optional: true, .. }), _) => {
                f.write_str("The service does not provide the key that this request is counted by.")
            }
            (Self::Key(error), _) => error.fmt(f),
            (Self::Blocked, _) => f.write_str("This request is not allowed."),
        }
    }
}

impl error::Error for Rejection {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Limited(_) | Self::Blocked => None,
            Self::Unavailable(error) => Some(&**error),
            Self::Key(error) => Some(error),
        }
    }
}
