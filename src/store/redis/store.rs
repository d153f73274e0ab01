//! The store itself.

use std::{fmt, sync::Arc};

use super::{
    super::{Store, sealed::Sealed},
    check,
    error::StoreError,
    health::Health,
    requests::{RedisDecision, Shared},
};
use crate::{charge::Charge, clock::Clock, key::Key, limit::Limit, operation::Operation};

/// Keeps state in Redis, for every process that shares it. Clones share its connections.
///
/// It connects when it is first used, and again when a connection is lost. A call that takes longer than the deadline
/// in all, 100 ms unless told otherwise, is an error; whether it was charged is then unknown, and it is not sent again.
/// A connection lives on the runtime that made it: when that has ended, the first call or two from another one fail.
///
/// A Redis that fails three of ten calls is not asked any more, and nobody waits for it: the error says so at once. A task
/// finds out when it is back, within a second. [`health`](Self::health) tells how it stands. What becomes of requests
/// meanwhile is for their [layer](crate::RateLimitLayer#when-the-store-fails) to say.
///
/// One Redis, a primary that [sentinels](crate::RedisStoreBuilder::sentinels) watch, or a
/// [cluster](crate::RedisStoreBuilder::cluster). Redis 6.2 or later, or Valkey. Give it `maxmemory-policy noeviction` or
/// `volatile-ttl`: a key that is evicted is a limit that starts over.
///
/// ```no_run
/// use tollgate::RedisStore;
///
/// # async fn start() -> Result<(), tollgate::StoreError> {
/// let store = RedisStore::connect("redis://127.0.0.1:6379")?;
/// store.check().await?; // says at start-up what is wrong, not at 3 a.m.
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisStore(pub(super) Arc<Shared>);

impl RedisStore {
    /// Charges limits of its own, corrects the charge and forgets it, so that whatever would fail later fails now, in
    /// clear words.
    pub async fn check(&self) -> Result<(), StoreError> {
        check::check(&self.0).await
    }

    /// The key in Redis that holds what a limit has counted for a key, for those who look there themselves.
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
        self.0.prefix.key(&Charge::new(limit.clone(), key.clone()))
    }

    /// What is known of the Redis that it asks.
    pub fn health(&self) -> Health {
        Health::of(&self.0.servers.breakers())
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
            .field("address", &self.0.servers.address())
            .field("prefix", &self.0.prefix)
            .field("deadline", &self.0.deadline)
            .finish_non_exhaustive()
    }
}
