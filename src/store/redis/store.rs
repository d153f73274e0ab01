//! The Redis store.

use std::{fmt, sync::Arc};

use super::{
    super::{Store, store::Sealed},
    batcher::Batcher,
    check,
    decision::RedisDecision,
    error::StoreError,
    health::Health,
    router::Router,
};
use crate::{charge::Charge, clock::Clock, key::Key, limit::Limit, operation::Operation};

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
        Health::of(&self.0.router.topology.breakers())
    }
}

impl Sealed for RedisStore {}

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
