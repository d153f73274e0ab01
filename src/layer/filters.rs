//! Requests that are exempt or blocked.

use super::RateLimitLayer;
use crate::policy::RequestFilter;

impl<A, K, St, R, O, T> RateLimitLayer<A, K, St, R, O, T> {
    /// Exempts matching requests: they pass without being counted in any tier.
    ///
    /// Examples are health checks, CORS preflights and internal networks. Exempt requests need no key, and their responses have
    /// no rate-limit headers. See [`Matcher`](crate::Matcher) for the available conditions. Exempt `HEAD` with care: axum runs
    /// the handler of `GET` for it, so it costs as much.
    ///
    /// ```
    /// use axum::{extract::Request, http::Method};
    /// use tollgate::{ClientIp, Header, MemoryStore, Quota, RateLimitLayer};
    ///
    /// let layer = RateLimitLayer::token_bucket("user", Quota::per_minute(100), Header::new("x-user-id"), MemoryStore::new())
    ///     .exempt(|request: &Request| request.uri().path() == "/healthz")
    ///     .exempt(Method::OPTIONS)
    ///     .exempt(ClientIp::peer().in_networks(["10.0.0.0/8", "fd00::/8"]));
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn exempt<M>(self, requests: M) -> RateLimitLayer<A, K, St, R, O, (T, RequestFilter<M>)> {
        self.with(RequestFilter::exempt(requests))
    }

    /// Rejects matching requests with 403, without asking the store. A request that is both exempt and blocked is blocked.
    ///
    /// ```
    /// use axum::extract::Request;
    /// use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer};
    ///
    /// let layer = RateLimitLayer::token_bucket("client", Quota::per_minute(100), ClientIp::peer(), MemoryStore::new())
    ///     .block(ClientIp::peer().in_networks(["203.0.113.0/24"]))
    ///     .block(|request: &Request| request.headers().get("user-agent").is_none());
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn block<M>(self, requests: M) -> RateLimitLayer<A, K, St, R, O, (T, RequestFilter<M>)> {
        self.with(RequestFilter::block(requests))
    }
}
