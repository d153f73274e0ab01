//! Tiers and their settings.

use super::{RateLimitLayer, in_code::InCode};
use crate::{
    algorithm::Algorithm,
    config_error::{self, ConfigError},
    limit::Limit,
    policy::{CostBy, Hidden, PerKey, QuotaBy, Shadow},
    quota::{Quota, QuotaUnit},
};

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Adds a tier. All tiers are charged together, all or none. [The guide](crate::guide::tiers) has more examples.
    ///
    /// ```
    /// use tollgate::{ClientIp, Global, MemoryStore, Quota, RateLimitLayer, TokenBucket};
    ///
    /// let layer = RateLimitLayer::sliding_counter("all", Quota::per_second(1000), Global, MemoryStore::new())
    ///     .hidden()
    ///     .tier("client", TokenBucket::new(Quota::per_second(10)).capacity(50), ClientIp::peer());
    /// let twice = layer.try_tier("client", TokenBucket::new(Quota::per_day(1)), Global).unwrap_err();
    /// assert_eq!(twice.to_string(), r#"name = "client": it must differ from the names of the other tiers"#);
    /// ```
    ///
    /// # Panics
    /// If [`try_tier`](Self::try_tier) returns an error.
    #[track_caller]
    pub fn tier<L>(self, name: &str, algorithm: impl Algorithm, key: L) -> RateLimitLayer<A, K, St, R, (P, PerKey<L>)>
    where
        A: InCode,
    {
        config_error::expect(self.try_tier(name, algorithm, key))
    }

    /// Adds a tier, or returns an error if its name is invalid or another tier has it.
    #[expect(clippy::type_complexity, reason = "an alias would hide the type of the new layer")]
    pub fn try_tier<L>(
        mut self,
        name: &str,
        algorithm: impl Algorithm,
        key: L,
    ) -> Result<RateLimitLayer<A, K, St, R, (P, PerKey<L>)>, ConfigError>
    where
        A: InCode,
    {
        let limit = Limit::try_new_distinct(&self.tiers, name, algorithm)?;
        self.tiers.push(limit.clone());
        Ok(self.then(PerKey::new(limit, key)))
    }

    /// Sets the quota of the preceding tier per request; `None` keeps the tier's own.
    ///
    /// Used quota stays used when a client changes to another plan: only the allowed amount depends on the plan. A quota with
    /// another window is counted separately. If a quota is invalid for the tier's algorithm, the layer logs an error, once, and
    /// the tier keeps its own quota.
    ///
    /// ```
    /// use axum::extract::Request;
    /// use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer};
    ///
    /// // Safe methods have a higher quota.
    /// let layer = RateLimitLayer::token_bucket("client", Quota::per_minute(10), ClientIp::peer(), MemoryStore::new())
    ///     .quota(|request: &Request| request.method().is_safe().then_some(Quota::per_minute(1000)));
    /// # let _ = layer;
    /// ```
    ///
    /// The closure is not asynchronous. If the plan has to be looked up, let an outer layer do it once and insert the plan into
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
    ///     let plan = Plan { requests_per_minute: 1000 }; // the result of an awaited query
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
    /// // In axum, the layer that is added last runs first.
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

    /// Hides the preceding tier from clients: a global tier would reveal how busy the service is.
    pub fn hidden(self) -> RateLimitLayer<A, K, St, R, (P, Hidden)>
    where
        A: InCode,
    {
        let step = Hidden::new(self.last().name());
        self.then(step)
    }

    /// Makes the preceding tier a shadow: it is evaluated and reported, but neither denies nor delays. Use it to try out a
    /// limit on live traffic.
    ///
    /// A request that a shadow would have denied is logged (`tracing`, at debug level), and the [`Decision`](crate::Decision)
    /// that handlers receive contains the shadow's verdict; responses do not. A shadow is charged only if it admits the request
    /// and the request as a whole is admitted. A request without the key of a shadow passes, too.
    ///
    /// ```
    /// use tollgate::{ClientIp, Header, MemoryStore, Quota, RateLimitLayer, TokenBucket};
    ///
    /// let layer = RateLimitLayer::token_bucket("client", Quota::per_minute(100), ClientIp::peer(), MemoryStore::new())
    ///     .tier("tenant", TokenBucket::new(Quota::per_minute(1000)), Header::new("x-tenant"))
    ///     .shadow(); // until we know which tenants it would deny
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn shadow(self) -> RateLimitLayer<A, K, St, R, (P, Shadow)>
    where
        A: InCode,
    {
        let step = Shadow::new(self.last().name());
        self.then(step)
    }

    /// Sets the cost of a request for the preceding tier, 1 by default: by a closure, or a
    /// [`CostExtractor`](crate::CostExtractor).
    ///
    /// A cost of 0 charges nothing. A cost above the capacity of the tier can never be admitted: the request is denied with
    /// 429, without `Retry-After`. If the cost depends on the body, like the size of a batch, let an outer layer read it and
    /// insert the cost into the request's extensions, like a [quota](Self::quota) that is looked up; or [settle](Self::settle)
    /// the charge afterwards.
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

    /// Names what the preceding tier counts, for clients (`qu` of `RateLimit-Policy`): requests by default, and `content-bytes` if the
    /// cost is the [`ContentLength`](crate::ContentLength).
    pub fn quota_unit(self, unit: QuotaUnit) -> Self
    where
        A: InCode,
    {
        self.last().set_unit(unit);
        self
    }
}
