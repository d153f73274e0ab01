//! Requests that are not counted.

use super::RateLimitLayer;
use crate::policy::Screen;

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Lets these requests pass, whatever they cost, without counting them in any tier: health checks, preflights, one's own
    /// networks. They need no key and carry no headers. See [`Matcher`](crate::Matcher) for what can be said. Think twice about
    /// `HEAD`: it costs as much as `GET`, whose handlers axum runs for it.
    ///
    /// ```
    /// use axum::{extract::Request, http::Method};
    /// use tollgate::{ClientIp, Header, MemoryStore, Quota, RateLimitLayer};
    ///
    /// let layer = RateLimitLayer::token_bucket("user", Quota::per_minute(100), Header::new("x-user-id"), MemoryStore::new())
    ///     .exempt(|request: &Request| request.uri().path() == "/healthz")
    ///     .exempt(Method::OPTIONS)
    ///     .exempt(ClientIp::peer().within(["10.0.0.0/8", "fd00::/8"]));
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn exempt<M>(self, requests: M) -> RateLimitLayer<A, K, St, R, (P, Screen<M>)> {
        self.then(Screen::exempt(requests))
    }

    /// Refuses these requests before any store is asked: 403. Whoever is exempt and denied is denied.
    ///
    /// ```
    /// use axum::extract::Request;
    /// use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer};
    ///
    /// let layer = RateLimitLayer::token_bucket("client", Quota::per_minute(100), ClientIp::peer(), MemoryStore::new())
    ///     .deny(ClientIp::peer().within(["203.0.113.0/24"]))
    ///     .deny(|request: &Request| request.headers().get("user-agent").is_none());
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn deny<M>(self, requests: M) -> RateLimitLayer<A, K, St, R, (P, Screen<M>)> {
        self.then(Screen::deny(requests))
    }
}
