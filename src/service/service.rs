//! A service that asks before it serves.

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use tower_service::Service;

use super::{future::ResponseFuture, gate::Gate};
use crate::{policy::Policy, respond::Respond, store::Store};

/// A service behind a rate limit. Made by a [`RateLimitLayer`](crate::RateLimitLayer).
///
/// It is ready when the inner service is. The inner service sees a request only after a decision that admits it: when this
/// one is called, if the store need not be waited for and nothing queues, else once the future is polled.
pub struct RateLimit<S, P, St, R> {
    inner: S,
    gate: Arc<Gate<P, St, R>>,
}

impl<S, P, St, R> RateLimit<S, P, St, R> {
    pub(crate) fn new(inner: S, gate: Gate<P, St, R>) -> Self {
        let gate = Arc::new(gate);
        Self { inner, gate }
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
        ResponseFuture::new(&self.gate, &mut self.inner, request)
    }
}

impl<S: Clone, P, St, R> Clone for RateLimit<S, P, St, R> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            gate: Arc::clone(&self.gate),
        }
    }
}

impl<S: fmt::Debug, P, St: fmt::Debug, R> fmt::Debug for RateLimit<S, P, St, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("inner", &self.inner)
            .field("store", &self.gate.store)
            .finish_non_exhaustive()
    }
}
