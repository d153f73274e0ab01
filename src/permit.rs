//! Permits: the slots of concurrency limits that a request holds.

use std::{any::Any, fmt, sync::Arc};

/// The slots of [concurrency limits](crate::Concurrency) that a request holds. They are released when the last clone is dropped.
///
/// A layer keeps one until the response body has ended. Keep a clone to hold the slots for longer: a WebSocket is served after its
/// response, and so is work in the background. With axum it is an extractor; without, it is in the extensions of the request. It is
/// missing if the request holds no slot, because no concurrency limit applies to it or the store failed.
///
#[cfg_attr(feature = "axum", doc = "```")]
#[cfg_attr(not(feature = "axum"), doc = "```ignore")]
/// use axum::{Router, http::StatusCode, routing::post};
/// use tollgate::{ClientIp, MemoryStore, Permit, RateLimitLayer};
///
/// async fn export(permit: Option<Permit>) -> StatusCode {
///     tokio::spawn(async move {
///         // .. writes the export ..
///         drop(permit);
///     });
///     StatusCode::ACCEPTED
/// }
///
/// let limit = RateLimitLayer::concurrency("exports", 2, ClientIp::peer(), MemoryStore::new());
/// let app: Router = Router::new().route("/exports", post(export).layer(limit));
/// # let _ = app;
/// ```
#[derive(Clone)]
#[must_use = "dropping it releases the slots"]
pub struct Permit {
    _slots: Arc<dyn Any + Send + Sync>,
}

impl Permit {
    /// A permit that drops `slots` at the end, and so releases them.
    pub(crate) fn new(slots: impl Send + Sync + 'static) -> Self {
        Self {
            _slots: Arc::new(slots),
        }
    }

    /// The slots of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self::new((self, other))
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}
