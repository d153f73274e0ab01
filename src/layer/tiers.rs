//! Tiers, and what is said of them.

use super::RateLimitLayer;
use crate::{
    algorithm::Algorithm,
    invalid::{self, Invalid},
    limit::Limit,
    policy::{PerKey, QuotaBy, Unlisted},
    quota::Quota,
};

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Another tier, charged together with the others, all or none.
    ///
    /// # Panics
    /// Where [`try_tier`](Self::try_tier) returns an error.
    #[track_caller]
    pub fn tier<L>(self, name: &str, algorithm: impl Algorithm, key: L) -> RateLimitLayer<A, K, St, R, (P, PerKey<L>)> {
        invalid::expect(self.try_tier(name, algorithm, key))
    }

    /// Another tier, unless its name will not do or is another tier's.
    #[expect(clippy::type_complexity, reason = "an alias would hide what becomes of the layer")]
    pub fn try_tier<L>(
        mut self,
        name: &str,
        algorithm: impl Algorithm,
        key: L,
    ) -> Result<RateLimitLayer<A, K, St, R, (P, PerKey<L>)>, Invalid> {
        if self.tiers.iter().any(|tier| tier.name() == name) {
            let must = "differ from the names of the layer's other tiers";
            return Err(Invalid::new("name", format_args!("{name:?}"), must));
        }
        let limit = Limit::try_new(name, algorithm)?;
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
        F: Fn(&Req) -> Q,
        Q: Into<Option<Quota>>,
    {
        let limit = self.last().clone();
        self.then(QuotaBy::new(limit, quota))
    }

    /// Does not tell clients of the tier before it: a global tier tells outsiders how busy the service is.
    pub fn unlisted(self) -> RateLimitLayer<A, K, St, R, (P, Unlisted)> {
        let step = Unlisted::new(self.last().name());
        self.then(step)
    }
}
