//! The extractor of a request's body length as its cost.

use http::Request;
use http_body::Body;

use super::super::CostExtractor;
use crate::quota::QuotaUnit;

/// The length of a request's body in bytes, as its [cost](crate::Tier::cost).
///
/// A request without a body costs 0. The length of a body without a `Content-Length` is unknown in advance: pass a typical size
/// to [`or`](Self::or), and [settle](crate::Tier::settle) the cost when the true size is known.
///
/// ```
/// use tollgate::{ClientIp, ContentLength, MemoryStore, Quota, RateLimitLayer, Tier};
///
/// // Ten megabytes per minute for each client.
/// let uploads = RateLimitLayer::new(Tier::token_bucket("uploads", Quota::per_minute(10_000_000), ClientIp::peer())
///         .cost(ContentLength::or(100_000)), MemoryStore::new());
/// # let _ = uploads;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentLength {
    default: u64,
}

impl ContentLength {
    /// The length of the body, or this number of bytes if the length is unknown.
    pub fn or(bytes: u64) -> Self {
        Self { default: bytes }
    }
}

impl<B: Body> CostExtractor<Request<B>> for ContentLength {
    fn cost(&self, request: &Request<B>) -> Option<u64> {
        let length = request.body().size_hint().exact();
        Some(length.unwrap_or(self.default))
    }

    fn unit(&self) -> Option<QuotaUnit> {
        Some(QuotaUnit::CONTENT_BYTES)
    }
}
