//! The layer, and what it becomes around a service.

use std::{fmt, marker::PhantomData, sync::atomic::AtomicBool};

use tower_layer::Layer;

use crate::{
    limit::Limit,
    policy::PerKey,
    respond::HttpAnswers,
    service::{Gate, OnFailure, RateLimit},
    waiting::Patience,
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
///
/// What follows a tier is about that tier: its [`quota`](Self::quota) and its [`cost`](Self::cost), by request; what is
/// corrected by the response ([`refund_if`](Self::refund_if), [`settle`](Self::settle), `settle_body`); whether it is
/// [`unlisted`](Self::unlisted) or a [`shadow`](Self::shadow). Whom the layer [exempts](Self::exempt) and whom it
/// [denies](Self::deny), and how long requests [wait](Self::wait), is about all of it.
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
/// `A` and `K` are the algorithm and the key of the first tier, `St` is the store, `R` answers, and `P` is the policy: all that
/// the layer has been told of what requests are charged.
#[must_use = "a layer does nothing until it is put around a service"]
pub struct RateLimitLayer<A, K, St, R = HttpAnswers, P = PerKey<K>> {
    pub(super) first: PhantomData<fn() -> (A, K)>,
    pub(super) policy: P,
    /// Every tier's limit as it was built. What is said next is about the last one.
    pub(super) tiers: Vec<Limit>,
    pub(super) store: St,
    pub(super) respond: R,
    pub(super) on_failure: OnFailure,
    pub(super) patience: Option<Patience>,
}

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Answers in another way: [`HttpAnswers`] with settings, [`GrpcAnswers`](crate::GrpcAnswers) for tonic's own server,
    /// [`AsError`](crate::AsError) for services that have no response to make, or a closure that makes a response of a
    /// [`Rejection`](crate::Rejection), and then nothing is said to admitted requests.
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
        self.map(|_| respond, |policy| policy)
    }

    pub(super) fn last(&self) -> &Limit {
        self.tiers.last().expect("a layer has a tier from the start")
    }

    pub(super) fn then<Q>(self, step: Q) -> RateLimitLayer<A, K, St, R, (P, Q)> {
        self.map(|respond| respond, |policy| (policy, step))
    }

    /// The same layer, with what its type may change in.
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
            patience: self.patience,
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
        let gate = Gate {
            policy: layer.policy,
            store: layer.store,
            respond: layer.respond,
            on_failure: layer.on_failure,
            patience: layer.patience,
            misconfigured: AtomicBool::new(false),
        };
        RateLimit::new(inner, gate)
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
            patience: self.patience.clone(),
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
