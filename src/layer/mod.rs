//! The layer: what a user writes.

mod constructors;

use std::{fmt, marker::PhantomData, sync::atomic::AtomicBool};

use tower_layer::Layer;

use crate::{
    algorithm::Algorithm,
    invalid::{self, Invalid},
    limit::Limit,
    policy::{PerKey, QuotaBy, Unlisted},
    quota::Quota,
    respond::HttpAnswers,
    service::{Gate, OnFailure, RateLimit},
    store::{Fallback, MemoryStore},
};

/// Limits the rate of requests to the service it wraps.
///
/// One of five constructors chooses the algorithm; [`new`](Self::new) takes one that is configured further. Each takes a
/// name, under which the store counts, how much is allowed, [whom a request is counted for](crate::extract), and a store.
/// On one store, layers of the same name, algorithm and window share one limit; so do clones and the routes that one layer
/// is put on.
///
/// ```
/// use axum::{Router, routing::get};
/// use tollgate::{ClientIp, Global, Header, MemoryStore, Quota, RateLimitLayer, TokenBucket};
///
/// let store = MemoryStore::new(); // or RedisStore::connect("redis://127.0.0.1:6379")?
/// let user = Header::new("x-user-id").or(ClientIp::peer());
///
/// let app: Router = Router::new()
///     .route("/api/expensive", get(async || "done").layer(
///         RateLimitLayer::sliding_log("expensive", Quota::per_minute(10), user.clone(), store.clone())))
///     .route("/api/hello", get(async || "hello"))
///     .layer(RateLimitLayer::sliding_counter("global", Quota::per_minute(10_000), Global, store)
///         .tier("user", TokenBucket::new(Quota::per_minute(100)), user));
/// # let _ = app;
/// ```
///
/// # Tiers
/// Layers compose as all layers do, each with its own round trip: what an outer one has charged stays charged when an
/// inner one refuses. The [tiers](Self::tier) of one layer are charged together, all or none, in one round trip.
/// What follows a tier (its [`quota`](Self::quota), whether it is [`unlisted`](Self::unlisted)) is about that tier.
///
/// # Answers
/// HTTP requests are answered as [`HttpAnswers`] says, and [`respond_with`](Self::respond_with) changes that. Put CORS layers
/// outside of this one, or browsers cannot read refusals, and preflights are counted.
///
/// # When the store fails
/// Requests pass unchecked ([`fail_open`](Self::fail_open)), unless the layer is told to refuse them
/// ([`fail_closed`](Self::fail_closed)), or to go on with the same limits on this node alone ([`fallback`](Self::fallback)).
///
/// # Types
/// `A` and `K` are the algorithm and the key of the first tier, `St` is the store, `R` answers, and `P` is whatever else
/// the layer has been told: further tiers and their terms.
#[must_use = "a layer does nothing until it is put around a service"]
pub struct RateLimitLayer<A, K, St, R = HttpAnswers, P = ()> {
    algorithm: PhantomData<fn() -> A>,
    first: PerKey<K>,
    steps: P,
    /// Every tier's limit as it was built. What is said next is about the last one.
    tiers: Vec<Limit>,
    store: St,
    respond: R,
    on_failure: OnFailure,
}

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

    /// Answers in another way: [`HttpAnswers`] with settings, [`AsError`](crate::AsError) for services that have no response to
    /// make, or a closure that makes a response of a [`Rejection`](crate::Rejection), and then nothing is said to
    /// admitted requests.
    ///
    /// ```
    /// use axum::response::IntoResponse;
    /// use tollgate::{Global, HttpAnswers, MemoryStore, Quota, RateLimitLayer, Rejection};
    ///
    /// let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, MemoryStore::new());
    /// let problems = layer.clone().respond_with(HttpAnswers::new().problem_details());
    /// let terse = layer.respond_with(|why: Rejection| (why.status(), why.to_string()).into_response());
    /// # let router: axum::Router = axum::Router::new();
    /// # let _ = router.layer(problems).layer(terse);
    /// ```
    pub fn respond_with<T>(self, respond: T) -> RateLimitLayer<A, K, St, T, P> {
        self.map(|_| respond, |steps| steps)
    }

    /// Lets requests pass while the store cannot decide, which is the default: a limiter's outage is not the service's.
    pub fn fail_open(mut self) -> Self {
        self.on_failure = OnFailure::Open;
        self
    }

    /// Refuses requests while the store cannot decide: 503 with `Retry-After`.
    pub fn fail_closed(mut self) -> Self {
        self.on_failure = OnFailure::Closed;
        self
    }

    /// Decides on this node alone while the store cannot: the same limits, counted in memory from nothing.
    ///
    /// So `n` nodes let through up to `n` times the limit while the store is gone, and everybody is still told what is left.
    /// What was counted meanwhile stays in memory. Give the layers of a service one memory store.
    ///
    /// ```no_run
    /// # #[cfg(feature = "redis")]
    /// # fn main() -> Result<(), tollgate::StoreError> {
    /// use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer, RedisStore};
    ///
    /// let store = RedisStore::connect("redis://127.0.0.1:6379")?;
    /// let layer = RateLimitLayer::token_bucket("client", Quota::per_minute(100), ClientIp::peer(), store)
    ///     .fallback(MemoryStore::new());
    /// # let _ = layer;
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "redis"))]
    /// # fn main() {}
    /// ```
    pub fn fallback(self, memory: MemoryStore) -> RateLimitLayer<A, K, Fallback<St>, R, P> {
        RateLimitLayer {
            algorithm: PhantomData,
            first: self.first,
            steps: self.steps,
            tiers: self.tiers,
            store: Fallback::new(self.store, memory),
            respond: self.respond,
            on_failure: self.on_failure,
        }
    }

    fn last(&self) -> &Limit {
        self.tiers.last().expect("a layer has a tier from the start")
    }

    fn then<Q>(self, step: Q) -> RateLimitLayer<A, K, St, R, (P, Q)> {
        self.map(|respond| respond, |steps| (steps, step))
    }

    /// The same layer, with what its type may change in.
    fn map<T, Q>(self, respond: impl FnOnce(R) -> T, steps: impl FnOnce(P) -> Q) -> RateLimitLayer<A, K, St, T, Q> {
        RateLimitLayer {
            algorithm: PhantomData,
            first: self.first,
            steps: steps(self.steps),
            tiers: self.tiers,
            store: self.store,
            respond: respond(self.respond),
            on_failure: self.on_failure,
        }
    }
}

impl<S, A, K, St, R, P> Layer<S> for RateLimitLayer<A, K, St, R, P>
where
    K: Clone,
    St: Clone,
    R: Clone,
    P: Clone,
{
    type Service = RateLimit<S, (PerKey<K>, P), St, R>;

    fn layer(&self, inner: S) -> Self::Service {
        let layer = self.clone();
        let gate = Gate {
            policy: (layer.first, layer.steps),
            store: layer.store,
            respond: layer.respond,
            on_failure: layer.on_failure,
            misconfigured: AtomicBool::new(false),
        };
        RateLimit::new(inner, gate)
    }
}

impl<A, K: Clone, St: Clone, R: Clone, P: Clone> Clone for RateLimitLayer<A, K, St, R, P> {
    fn clone(&self) -> Self {
        Self {
            algorithm: PhantomData,
            first: self.first.clone(),
            steps: self.steps.clone(),
            tiers: self.tiers.clone(),
            store: self.store.clone(),
            respond: self.respond.clone(),
            on_failure: self.on_failure,
        }
    }
}

impl<A, K, St: fmt::Debug, R, P> fmt::Debug for RateLimitLayer<A, K, St, R, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitLayer")
            .field("tiers", &self.tiers)
            .field("store", &self.store)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}
