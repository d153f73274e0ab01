//! The layer, and its `Layer` implementation.

use std::fmt;

use tower_layer::Layer;

use crate::{
    limit::Limit,
    policy::Tier,
    respond::HttpResponder,
    service::{RateLimit, Settings},
    store::{MemoryStore, Store},
};

/// Limits the rate of requests to the service it wraps.
///
/// Six constructors select the algorithm: each takes the name of the limit, the quota or the number, a
/// [key extractor](crate::extract) and a store.
/// [`new`](Self::new) takes a [`Tier`] with further settings. Layers on the same store whose limits have the same name, algorithm and
/// window share their state; so do the clones of a layer, and all routes that it wraps.
///
/// ```
/// use axum::{Router, routing::get};
/// use tollgate::{ClientIp, Global, Header, MemoryStore, Quota, RateLimitLayer, Tier};
///
/// let store = MemoryStore::new(); // or RedisStore::connect("redis://127.0.0.1:6379")?
/// let user = Header::new("x-user-id").or(ClientIp::peer());
///
/// let app: Router = Router::new()
///     .route("/api/expensive", get(async || "done").layer(
///         RateLimitLayer::sliding_log("expensive", Quota::per_minute(10), user.clone(), store.clone())))
///     .route("/api/hello", get(async || "hello"))
///     .layer(RateLimitLayer::sliding_counter("global", Quota::per_minute(10_000), Global, store)
///         .tier(Tier::token_bucket("user", Quota::per_minute(100), user)));
/// # let _ = app;
/// ```
///
/// # Tiers
/// Layers compose like all tower layers, each with its own round trip to the store: a charge of an outer layer stays if an
/// inner layer denies the request. The [tiers](Self::tier) of one layer are charged together, all or none, in one round trip.
///
/// The methods of a [`Tier`] set what the tier does: its quota and cost per request, corrections by the response, whether clients see
/// it. The methods of the layer, such as [`exempt`](Self::exempt), [`block`](Self::block) and [`wait`](Self::wait), apply to all tiers.
///
/// # Inner services
/// The service has to be `Clone`, as axum's routes and tonic's services are; wrap another one in `tower::buffer::Buffer`.
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
/// `A` and `K` are the algorithm and the key extractor of the first tier, `St` is the store, and `R` the responder. `O` are the options
/// of the first tier, and `T` are the later tiers and the filters, in the types of [`policy`](crate::policy). All but `A` and `K` have
/// defaults, so a layer can be the field of a struct or the result of a function. For a layer with closures, which have no type that
/// could be written, there is [`boxed`](Self::boxed):
///
#[cfg_attr(feature = "redis", doc = "```")]
#[cfg_attr(not(feature = "redis"), doc = "```ignore")]
/// use axum::{extract::Request, response::Response};
/// use tollgate::{BoxRateLimitLayer, ClientIp, Key, MemoryStore, Quota, RateLimitLayer, RedisStore, Tier, TokenBucket};
///
/// struct Limits {
///     on_one_node: RateLimitLayer<TokenBucket, ClientIp>,
///     shared: RateLimitLayer<TokenBucket, ClientIp, RedisStore>,
///     by_tenant: RateLimitLayer<TokenBucket, fn(&Request) -> Option<Key>>,
///     uploads: BoxRateLimitLayer<Request, Response>,
/// }
///
/// fn tenant(request: &Request) -> Option<Key> {
///     request.uri().host().map(|host| Key::named("tenant", host))
/// }
///
/// fn uploads() -> BoxRateLimitLayer<Request, Response> {
///     let bytes = |request: &Request| request.headers().get("x-bytes")?.to_str().ok()?.parse().ok();
///     let tier = Tier::token_bucket("uploads", Quota::per_minute(1_000_000), ClientIp::peer()).cost(bytes);
///     RateLimitLayer::new(tier, MemoryStore::new()).boxed()
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (quota, client) = (Quota::per_minute(100), ClientIp::peer());
/// let limits = Limits {
///     on_one_node: RateLimitLayer::token_bucket("node", quota, client.clone(), MemoryStore::new()),
///     shared: RateLimitLayer::token_bucket("shared", quota, client, RedisStore::connect("redis://127.0.0.1:6379")?),
///     by_tenant: RateLimitLayer::token_bucket("tenant", quota, tenant, MemoryStore::new()),
///     uploads: uploads(),
/// };
/// # let app: axum::Router = axum::Router::new();
/// # let _ = app.layer(limits.on_one_node).layer(limits.shared).layer(limits.by_tenant).layer(limits.uploads);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a layer does nothing unless it wraps a service"]
pub struct RateLimitLayer<A, K, St = MemoryStore, R = HttpResponder, O = (), T = ()> {
    pub(super) first: Tier<A, K, O>,
    /// The later tiers and the filters: `()`, or a pair of them and the one that follows.
    pub(super) rest: T,
    /// The limit of every tier, to keep their names apart.
    pub(super) limits: Vec<Limit>,
    pub(super) settings: Settings<St, R>,
}

impl<A, K, St, R, O, T> RateLimitLayer<A, K, St, R, O, T> {
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
    pub fn respond_with<U>(self, respond: U) -> RateLimitLayer<A, K, St, U, O, T> {
        self.map_settings(|settings| settings.respond_with(respond))
    }

    /// Adds a tier or a filter.
    pub(super) fn with<U>(self, part: U) -> RateLimitLayer<A, K, St, R, O, (T, U)> {
        RateLimitLayer {
            first: self.first,
            rest: (self.rest, part),
            limits: self.limits,
            settings: self.settings,
        }
    }

    pub(super) fn map_settings<S, U>(
        self,
        map: impl FnOnce(Settings<St, R>) -> Settings<S, U>,
    ) -> RateLimitLayer<A, K, S, U, O, T> {
        RateLimitLayer {
            first: self.first,
            rest: self.rest,
            limits: self.limits,
            settings: map(self.settings),
        }
    }
}

impl<S, A, K, St, R, O, T> Layer<S> for RateLimitLayer<A, K, St, R, O, T>
where
    A: Clone,
    K: Clone,
    St: Clone,
    R: Clone,
    O: Clone,
    T: Clone,
{
    type Service = RateLimit<S, (Tier<A, K, O>, T), St, R>;

    fn layer(&self, inner: S) -> Self::Service {
        let policy = (self.first.clone(), self.rest.clone());
        RateLimit::with_policy(inner, policy, self.settings.clone())
    }
}

impl RateLimit<(), (), (), ()> {
    /// The layer of a tier: the same as [`RateLimitLayer::new`].
    pub fn layer<A, K, O, St: Store>(tier: Tier<A, K, O>, store: St) -> RateLimitLayer<A, K, St, HttpResponder, O> {
        RateLimitLayer::new(tier, store)
    }
}

impl<A, K, St: fmt::Debug, R, O, T> fmt::Debug for RateLimitLayer<A, K, St, R, O, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitLayer")
            .field("limits", &self.limits)
            .field("store", &self.settings.store)
            .field("on_failure", &self.settings.on_failure)
            .finish_non_exhaustive()
    }
}
