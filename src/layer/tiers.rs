//! Tiers, and what is said of them.

use super::{RateLimitLayer, in_code::InCode};
use crate::{
    algorithm::Algorithm,
    invalid::{self, Invalid},
    limit::Limit,
    policy::{CostBy, PerKey, QuotaBy, Shadow, Unlisted},
    quota::Quota,
};

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Another tier, charged together with the others, all or none. [The guide](crate::guide::tiers) has more of them.
    ///
    /// ```
    /// use tollgate::{ClientIp, Global, MemoryStore, Quota, RateLimitLayer, TokenBucket};
    ///
    /// let layer = RateLimitLayer::sliding_counter("all", Quota::per_second(1000), Global, MemoryStore::new())
    ///     .unlisted()
    ///     .tier("client", TokenBucket::new(Quota::per_second(10)).capacity(50), ClientIp::peer());
    /// let twice = layer.try_tier("client", TokenBucket::new(Quota::per_day(1)), Global).unwrap_err();
    /// assert_eq!(twice.to_string(), r#"name = "client": it must differ from the names of the other tiers"#);
    /// ```
    ///
    /// # Panics
    /// Where [`try_tier`](Self::try_tier) returns an error.
    #[track_caller]
    pub fn tier<L>(self, name: &str, algorithm: impl Algorithm, key: L) -> RateLimitLayer<A, K, St, R, (P, PerKey<L>)>
    where
        A: InCode,
    {
        invalid::expect(self.try_tier(name, algorithm, key))
    }

    /// Another tier, unless its name will not do or is another tier's.
    #[expect(clippy::type_complexity, reason = "an alias would hide what becomes of the layer")]
    pub fn try_tier<L>(
        mut self,
        name: &str,
        algorithm: impl Algorithm,
        key: L,
    ) -> Result<RateLimitLayer<A, K, St, R, (P, PerKey<L>)>, Invalid>
    where
        A: InCode,
    {
        let limit = Limit::another(&self.tiers, name, algorithm)?;
        self.tiers.push(limit.clone());
        Ok(self.then(PerKey::new(limit, key)))
    }

    /// A quota by request, for the tier before it; `None` leaves that tier's own.
    ///
    /// What was used stays used when a client changes to another plan: only how much is allowed depends on it. A quota of
    /// another window is counted apart. One that cannot work with the tier's algorithm is logged as an error, and the
    /// tier keeps its own.
    ///
    /// ```
    /// use axum::extract::Request;
    /// use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer};
    ///
    /// // Reading is cheap here, writing is not.
    /// let layer = RateLimitLayer::token_bucket("client", Quota::per_minute(10), ClientIp::peer(), MemoryStore::new())
    ///     .quota(|request: &Request| request.method().is_safe().then_some(Quota::per_minute(1000)));
    /// # let _ = layer;
    /// ```
    ///
    /// The closure is not asynchronous. Where a plan has to be looked up, an outer layer does that once and leaves it in
    /// the request's extensions, for this closure and for handlers:
    ///
    /// ```
    /// use axum::{Router, extract::Request, middleware::{self, Next}, response::Response, routing::get};
    /// use tollgate::{Header, MemoryStore, Quota, RateLimitLayer};
    ///
    /// #[derive(Clone, Copy)]
    /// struct Plan {
    ///     requests_per_minute: u32,
    /// }
    ///
    /// async fn find_plan(mut request: Request, next: Next) -> Response {
    ///     let plan = Plan { requests_per_minute: 1000 }; // a query that is awaited
    ///     request.extensions_mut().insert(plan);
    ///     next.run(request).await
    /// }
    ///
    /// let user = Header::new("x-user-id");
    /// let limit = RateLimitLayer::token_bucket("user", Quota::per_minute(10), user, MemoryStore::new())
    ///     .quota(|request: &Request| {
    ///         let plan = request.extensions().get::<Plan>()?;
    ///         Quota::try_per_minute(plan.requests_per_minute).ok()
    ///     });
    /// // Of axum's layers, the one that is added last comes first.
    /// let app: Router = Router::new().route("/", get(async || "hello")).layer(limit).layer(middleware::from_fn(find_plan));
    /// # let _ = app;
    /// ```
    pub fn quota<Req, Q, F>(self, quota: F) -> RateLimitLayer<A, K, St, R, (P, QuotaBy<F>)>
    where
        A: InCode,
        F: Fn(&Req) -> Q,
        Q: Into<Option<Quota>>,
    {
        let limit = self.last().clone();
        self.then(QuotaBy::new(limit, quota))
    }

    /// Does not tell clients of the tier before it: a global tier tells outsiders how busy the service is.
    pub fn unlisted(self) -> RateLimitLayer<A, K, St, R, (P, Unlisted)>
    where
        A: InCode,
    {
        let step = Unlisted::new(self.last().name());
        self.then(step)
    }

    /// Watches the tier before it without acting on it: it is evaluated and reported, and neither refuses nor delays. So a limit
    /// can be tried out on live traffic.
    ///
    /// A request that a shadow would have refused is logged (`tracing`, at debug level), and the
    /// [`Decision`](crate::Decision) that handlers are given has its verdict; clients are not told of it. It is charged only when
    /// it admits and the whole request does. A request that lacks the key of a shadow passes, too.
    ///
    /// ```
    /// use tollgate::{ClientIp, Header, MemoryStore, Quota, RateLimitLayer, TokenBucket};
    ///
    /// let layer = RateLimitLayer::token_bucket("client", Quota::per_minute(100), ClientIp::peer(), MemoryStore::new())
    ///     .tier("tenant", TokenBucket::new(Quota::per_minute(1000)), Header::new("x-tenant"))
    ///     .shadow(); // until we know whom it would hit
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn shadow(self) -> RateLimitLayer<A, K, St, R, (P, Shadow)>
    where
        A: InCode,
    {
        let step = Shadow::new(self.last().name());
        self.then(step)
    }

    /// What a request costs the tier before it, where that is not 1: a closure, or a
    /// [`CostExtractor`](crate::CostExtractor).
    ///
    /// What costs 0 is charged nothing. What costs more than the tier ever holds is refused for good: 429 without
    /// `Retry-After`. Where the cost is in the body, as the size of a batch is, an outer layer reads it and leaves it in the
    /// request's extensions, as with a [quota](Self::quota) that is looked up; or it is [settled](Self::settle) afterwards.
    ///
    /// ```
    /// use axum::extract::Request;
    /// use tollgate::{ContentLength, Header, MemoryStore, Quota, RateLimitLayer, TokenBucket};
    ///
    /// let user = Header::new("x-user-id");
    /// let layer = RateLimitLayer::token_bucket("user", Quota::per_minute(100), user.clone(), MemoryStore::new())
    ///     .cost(|request: &Request| if request.method().is_safe() { 1 } else { 10 })
    ///     .tier("uploads", TokenBucket::new(Quota::per_minute(10_000_000)), user)
    ///     .cost(ContentLength::or(100_000));
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn cost<C>(self, cost: C) -> RateLimitLayer<A, K, St, R, (P, CostBy<C>)>
    where
        A: InCode,
    {
        let step = CostBy::new(self.last().name(), cost);
        self.then(step)
    }
}
