//! The Redis store, and the future of its decisions.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::runtime::Handle;

use super::{
    super::Store,
    batch::Response,
    batcher::{Batcher, PendingResponse},
    check,
    error::StoreError,
    health::Health,
    router::Router,
};
use crate::{
    charge::Charge,
    clock::Clock,
    decision::Decision,
    key::Key,
    limit::Limit,
    metrics::{StoreCallOutcome, StoreCallTimer},
    operation::Operation,
};

/// A store in Redis, for all processes that share it. Clones share its connections.
///
/// It connects on first use, and reconnects after a connection is lost. A call that exceeds the deadline, 100 ms by default, is
/// an error; it may have been charged, so the store does not retry it. A connection belongs to the runtime that created it:
/// after that runtime has ended, the first call or two from another runtime fail.
///
/// If three of the last ten calls have failed, a circuit breaker opens: calls then fail fast, until a background task has
/// probed Redis successfully, within a second after it recovers. [`health`](Self::health) returns the state of the circuit
/// breaker. The [layer](crate::RateLimitLayer#when-the-store-fails) determines what happens to requests meanwhile.
///
/// Redis may be standalone, a primary that [sentinels](crate::RedisStoreBuilder::sentinels) monitor, or a
/// [cluster](crate::RedisStoreBuilder::cluster); Redis 6.2 or later, or Valkey. Set `maxmemory-policy` to `noeviction` or
/// `volatile-ttl`: if Redis evicts a key, its limit is reset.
///
/// ```no_run
/// use tollgate::RedisStore;
///
/// # async fn start() -> Result<(), tollgate::StoreError> {
/// let store = RedisStore::connect("redis://127.0.0.1:6379")?;
/// store.check().await?; // fails at start-up, not at the first request
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisStore(pub(super) Arc<Inner>);

/// What the clones of a store share.
pub(super) struct Inner {
    pub(super) batcher: Arc<Batcher>,
    pub(super) router: Arc<Router>,
    pub(super) clock: Clock,
}

impl RedisStore {
    /// Acquires, settles and resets a charge under limits for this purpose, on every node, so that errors show at start-up.
    pub async fn check(&self) -> Result<(), StoreError> {
        check::check(&self.0.router).await
    }

    /// The Redis key with the state of a limit for a key, for tools that read it directly.
    ///
    /// ```
    /// use tollgate::{Key, Limit, Quota, RedisStore, TokenBucket};
    ///
    /// let store = RedisStore::connect("redis://127.0.0.1:6379")?;
    /// let limit = Limit::new("user", TokenBucket::new(Quota::per_minute(100)));
    /// let key = store.redis_key(&limit, &Key::named("user", 12345));
    /// assert_eq!(key, "rate_limit:token_bucket:user:60000000:user:12345");
    /// # Ok::<(), tollgate::StoreError>(())
    /// ```
    pub fn redis_key(&self, limit: &Limit, key: &Key) -> String {
        let charge = Charge::new(limit.clone(), key.clone());
        self.0.router.encoder.key(&charge)
    }

    /// The health of the nodes of this store.
    pub fn health(&self) -> Health {
        Health::of(&self.0.router.topology.breakers(), &self.0.batcher.overload)
    }
}

impl Store for RedisStore {
    type Error = StoreError;
    type Future = RedisDecision;

    fn apply(&self, operation: Operation) -> RedisDecision {
        RedisDecision::new(Arc::clone(&self.0), operation)
    }

    fn clock(&self) -> &Clock {
        &self.0.clock
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("address", self.0.router.topology.address())
            .field("prefix", self.0.router.encoder.prefix())
            .field("deadline", &self.0.batcher.timeout())
            .finish_non_exhaustive()
    }
}

/// The future of a [`RedisStore`](crate::RedisStore)'s decision. It sends nothing before it is first polled.
#[must_use = "futures do nothing unless polled"]
pub struct RedisDecision {
    store: Arc<Inner>,
    /// `None` after the first poll.
    operation: Option<Operation>,
    pending: Option<(StoreCallTimer, PendingResponse)>,
}

impl RedisDecision {
    pub(super) fn new(store: Arc<Inner>, operation: Operation) -> Self {
        Self {
            store,
            operation: Some(operation),
            pending: None,
        }
    }

    /// The response if Redis is not needed for it, or the operation.
    fn local_response(&self, operation: Operation) -> Result<Response, Operation> {
        if operation.charges().next().is_none() {
            return Ok(Ok(Decision::exempt(self.store.clock.now())));
        }
        let operation = match operation {
            Operation::Acquire(charges) => match self.store.batcher.cached_denial(charges) {
                Ok(decision) => return Ok(Ok(decision)),
                Err(charges) => Operation::Acquire(charges),
            },
            operation => operation,
        };
        if Handle::try_current().is_err() {
            return Ok(Err(StoreError::NoRuntime));
        }
        Err(operation)
    }
}

impl Future for RedisDecision {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        if let Some(operation) = self.operation.take() {
            match self.local_response(operation) {
                Ok(response) => return Poll::Ready(response),
                Err(operation) => {
                    let timer = StoreCallTimer::start();
                    self.pending = Some((timer, self.store.batcher.submit(operation)));
                }
            }
        }
        let pending = self.pending.as_mut();
        let (_, pending) = pending.expect("polled after completion");
        let response = ready!(Pin::new(pending).poll(context));
        if let Some((timer, _)) = self.pending.take() {
            timer.stop(match &response {
                Ok(_) => Some(StoreCallOutcome::Answered),
                Err(StoreError::CircuitOpen { .. }) => None,
                Err(_) => Some(StoreCallOutcome::Failed),
            });
        }
        Poll::Ready(response)
    }
}

impl fmt::Debug for RedisDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisDecision").finish_non_exhaustive()
    }
}
