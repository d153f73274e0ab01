//! The middleware around an inner service.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use tower_service::Service;

use super::{enforcer::Enforcer, future::ResponseFuture, settings::Settings};
use crate::{
    policy::{Policy, Tier},
    respond::{HttpResponder, Respond},
    store::{MemoryStore, Store},
};

/// A service behind a rate limit: `S` is the inner service, `P` the [policy](crate::policy), `St` the store and `R` the responder.
///
/// The inner service has to be `Clone`, as axum's routes and tonic's services are; wrap another one in `tower::buffer::Buffer`. It is
/// ready when the inner service is. It calls the inner service only after a decision that admits the request: in `call`
/// itself if the store decides synchronously and no tier queues, otherwise when the future is polled.
///
/// ```
/// use tollgate::{Global, MemoryStore, Quota, RateLimit, Tier};
///
/// let tier = Tier::token_bucket("api", Quota::per_second(100), Global);
/// let mut limited = RateLimit::new("a service", tier, MemoryStore::new());
/// assert_eq!(*limited.get_ref(), "a service");
/// *limited.get_mut() = "another service";
/// assert_eq!(limited.into_inner(), "another service");
/// ```
pub struct RateLimit<S, P, St = MemoryStore, R = HttpResponder> {
    inner: S,
    enforcer: Arc<Enforcer<P, St, R>>,
}

impl<S, A, K, O, St: Store> RateLimit<S, (Tier<A, K, O>, ()), St> {
    /// A service behind a limit of one tier. A [`RateLimitLayer`](crate::RateLimitLayer) makes one with further settings.
    pub fn new(inner: S, tier: Tier<A, K, O>, store: St) -> Self {
        Self::with_policy(inner, (tier, ()), Settings::new(store))
    }
}

impl<S, P, St, R> RateLimit<S, P, St, R> {
    pub(crate) fn with_policy(inner: S, policy: P, settings: Settings<St, R>) -> Self {
        let enforcer = Arc::new(Enforcer::new(policy, settings));
        Self { inner, enforcer }
    }

    /// The inner service.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The inner service, mutable.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The inner service, without the limit.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, Req, P, St, R> Service<Req> for RateLimit<S, P, St, R>
where
    S: Service<Req> + Clone,
    P: Policy<Req, S::Response>,
    St: Store,
    R: Respond<Req, S::Response, S::Error>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = ResponseFuture<S, Req, P, St, R>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        ResponseFuture::new(&self.enforcer, &mut self.inner, request)
    }
}

impl<S: Clone, P, St, R> Clone for RateLimit<S, P, St, R> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            enforcer: Arc::clone(&self.enforcer),
        }
    }
}

impl<S: fmt::Debug, P, St: fmt::Debug, R> fmt::Debug for RateLimit<S, P, St, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("inner", &self.inner)
            .field("store", &self.enforcer.store)
            .finish_non_exhaustive()
    }
}
