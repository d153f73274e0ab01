//! The size of a request as its cost.

use http::Request;
use http_body::Body;

use super::super::CostExtractor;

/// As many as the request's body has bytes, as the [cost](crate::RateLimitLayer::cost) of a request.
///
/// What has no body costs 0. What sends its body in chunks, without a `Content-Length`, does not say how long it will be, so
/// say what that costs: [`or`](Self::or) a typical size, and [settle](crate::RateLimitLayer::settle) it when the true one is
/// known.
///
/// ```
/// use tollgate::{ClientIp, ContentLength, MemoryStore, Quota, RateLimitLayer};
///
/// // Ten megabytes a minute for each client.
/// let uploads = RateLimitLayer::token_bucket("uploads", Quota::per_minute(10_000_000), ClientIp::peer(), MemoryStore::new())
///     .cost(ContentLength::or(100_000));
/// # let _ = uploads;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentLength {
    otherwise: u64,
}

impl ContentLength {
    /// The length of the body, or this many bytes where the request does not say.
    pub fn or(bytes: u64) -> Self {
        Self { otherwise: bytes }
    }
}

impl<B: Body> CostExtractor<Request<B>> for ContentLength {
    fn cost(&self, request: &Request<B>) -> Option<u64> {
        let length = request.body().size_hint().exact();
        Some(length.unwrap_or(self.otherwise))
    }
}
