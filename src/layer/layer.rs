//! The layer, and its `Layer` implementation.

use std::{fmt, marker::PhantomData, sync::atomic::AtomicBool};

use tower_layer::Layer;

use crate::{
    limit::Limit,
    policy::PerKey,
    respond::HttpResponder,
    service::{Enforcer, OnFailure, RateLimit},
    wait_queue::WaitConfig,
};

/// Limits the rate of requests to the service it wraps.
///
/// Five constructors select the algorithm; [`new`](Self::new) takes one with further settings. Each constructor takes the name
/// of the limit, the quota, a [key extractor](crate::extract) and a store. Layers on the same store whose limits have the same
/// name, algorithm and window share their state; so do the clones of a layer, and all routes that it wraps.
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
/// Layers compose like all tower layers, each with its own round trip to the store: a charge of an outer layer stays if an
/// inner layer denies the request. The [tiers](Self::tier) of one layer are charged together, all or none, in one round trip.
///
/// Per-tier methods apply to the tier before them: [`quota`](Self::quota) and [`cost`](Self::cost) set its quota and cost per
/// request; [`refund_if`](Self::refund_if), [`settle`](Self::settle) and `settle_body` correct its charge by the response;
/// [`hidden`](Self::hidden) and [`shadow`](Self::shadow) hide it from clients, or stop it from denying. The other methods, such
/// as [`exempt`](Self::exempt), [`block`](Self::block) and [`wait`](Self::wait), apply to the whole layer.
///
/// # Responses
/// [`HttpResponder`] answers rejected HTTP requests, and adds rate-limit headers to the responses of the others;
/// [`respond_with`](Self::respond_with) replaces it. Put CORS layers outside of this one: otherwise browsers cannot read
/// rejections, and preflights are counted.
///
/// # When the store fails
/// By default, requests pass unchecked ([`fail_open`](Self::fail_open)). A layer can also reject them
/// ([`fail_closed`](Self::fail_closed)), or apply the same limits on this node alone ([`fallback`](Self::fallback)). In a cluster, this
/// concerns the limits on nodes that are down: the limits on the other nodes stay exact.
///
/// # Types
/// `A` and `K` are the algorithm and the key extractor of the first tier, `St` is the store, `R` the responder, and `P` the
/// [policy](crate::policy), which determines what requests are charged.
#[must_use = "a layer does nothing unless it wraps a service"]
pub struct RateLimitLayer<A, K, St, R = HttpResponder, P = PerKey<K>> {
    pub(super) first: PhantomData<fn() -> (A, K)>,
    pub(super) policy: P,
    /// The limit of every tier, with its static quota. Per-tier methods apply to the last one.
    pub(super) tiers: Vec<Limit>,
    pub(super) store: St,
    pub(super) respond: R,
    pub(super) on_failure: OnFailure,
    pub(super) wait: Option<WaitConfig>,
}

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Replaces the responder.
    ///
    /// Use [`HttpResponder`] with other settings, [`GrpcResponder`](crate::GrpcResponder) for tonic's own server,
    /// [`AsError`](crate::AsError) for services that report rejections as errors, or a closure that returns a response for a
    /// [`Rejection`](crate::Rejection). With a closure, the responses of admitted requests stay unchanged.
    ///
    /// ```
    /// use axum::response::IntoResponse;
    /// use tollgate::{Global, HttpResponder, MemoryStore, Quota, RateLimitLayer, Rejection};
    ///
    /// let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, MemoryStore::new());
    /// let problems = layer.clone().respond_with(HttpResponder::new().problem_details());
    /// let terse = layer.respond_with(|why: Rejection| (why.status(), why.to_string()).into_response());
    /// # let router: axum::Router = axum::Router::new();
    /// # let _ = router.layer(problems).layer(terse);
    /// ```
    pub fn respond_with<T>(self, respond: T) -> RateLimitLayer<A, K, St, T, P> {
        self.map(|_| respond, |policy| policy)
    }

    pub(super) fn last(&self) -> &Limit {
        self.tiers.last().expect("a layer in code has at least one tier")
    }

    pub(super) fn then<Q>(self, step: Q) -> RateLimitLayer<A, K, St, R, (P, Q)> {
        self.map(|respond| respond, |policy| (policy, step))
    }

    /// Replaces the responder and the policy, by values of other types.
    pub(super) fn map<T, Q>(
        self,
        respond: impl FnOnce(R) -> T,
        policy: impl FnOnce(P) -> Q,
    ) -> RateLimitLayer<A, K, St, T, Q> {
        RateLimitLayer {
            first: PhantomData,
            policy: policy(self.policy),
            tiers: self.tiers,
            store: self.store,
            respond: respond(self.respond),
            on_failure: self.on_failure,
            wait: self.wait,
        }
    }
}

impl<S, A, K, St, R, P> Layer<S> for RateLimitLayer<A, K, St, R, P>
where
    St: Clone,
    R: Clone,
    P: Clone,
{
    type Service = RateLimit<S, P, St, R>;

    fn layer(&self, inner: S) -> Self::Service {
        let layer = self.clone();
        let enforcer = Enforcer {
            policy: layer.policy,
            store: layer.store,
            respond: layer.respond,
            on_failure: layer.on_failure,
            wait: layer.wait,
            misconfigured: AtomicBool::new(false),
        };
        RateLimit::new(inner, enforcer)
    }
}

impl<A, K, St: Clone, R: Clone, P: Clone> Clone for RateLimitLayer<A, K, St, R, P> {
    fn clone(&self) -> Self {
        Self {
            first: PhantomData,
            policy: self.policy.clone(),
            tiers: self.tiers.clone(),
            store: self.store.clone(),
            respond: self.respond.clone(),
            on_failure: self.on_failure,
            wait: self.wait.clone(),
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
