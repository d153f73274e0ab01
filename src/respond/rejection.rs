//! Why a request is not served.

use std::{error, fmt, sync::Arc, time::Duration};

use crate::{decision::Decision, extract::KeyError};

/// Why a request is not served.
///
/// It displays as a sentence for clients. [`status`](Self::status) is what HTTP has for it.
///
/// ```
/// use axum::response::{IntoResponse, Redirect, Response};
/// use tollgate::{Global, MemoryStore, Quota, RateLimitLayer, Rejection};
///
/// /// People are sent to a page that explains it; all else is answered in words.
/// fn answer(why: Rejection) -> Response {
///     match &why {
///         Rejection::Limited(_) => Redirect::to("/slow-down").into_response(),
///         _ => (why.status(), why.to_string()).into_response(),
///     }
/// }
/// assert_eq!(answer(Rejection::Denied).status(), 403);
///
/// let limit = RateLimitLayer::token_bucket("pages", Quota::per_minute(60), Global, MemoryStore::new());
/// # let _: axum::Router = axum::Router::new().layer(
/// limit.respond_with(answer)
/// # );
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Rejection {
    /// A limit refuses it.
    Limited(Box<Decision>),
    /// The store could not be asked, and the layer is closed then.
    Unavailable(Arc<dyn error::Error + Send + Sync>),
    /// Nobody knows whom it is counted for.
    Key(KeyError),
    /// It is on the layer's [deny list](crate::RateLimitLayer::deny).
    Denied,
}

impl Rejection {
    /// When it is worth coming back: never for a request that costs more than its limit ever holds, for one that lacks its
    /// key, or for one that is denied.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited(decision) => decision.retry_after(),
            Self::Unavailable(_) => Some(Duration::from_secs(1)),
            Self::Key(_) | Self::Denied => None,
        }
    }

    /// The same in whole seconds, as clients are told: rounded up, so that nobody comes back too early, and at least 1.
    pub fn retry_after_secs(&self) -> Option<u64> {
        let wait = self.retry_after()?;
        Some((wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1))
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.retry_after_secs()) {
            (Self::Limited(_), Some(1)) => f.write_str("Too many requests. Please retry after 1 second."),
            (Self::Limited(_), Some(seconds)) => write!(f, "Too many requests. Please retry after {seconds} seconds."),
            (Self::Limited(_), None) => f.write_str("This request asks for more than its limit ever allows."),
            (Self::Unavailable(_), _) => f.write_str("The rate limiter cannot be reached. Please retry."),
            (Self::Key(error), _) => error.fmt(f),
            (Self::Denied, _) => f.write_str("This request is not allowed."),
        }
    }
}

impl error::Error for Rejection {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Limited(_) | Self::Denied => None,
            Self::Unavailable(error) => Some(&**error),
            Self::Key(error) => Some(error),
        }
    }
}
