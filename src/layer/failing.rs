//! What becomes of requests while the store cannot decide.

use std::marker::PhantomData;

use super::RateLimitLayer;
use crate::{
    service::OnFailure,
    store::{Fallback, MemoryStore},
};

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Lets requests pass while the store cannot decide, which is the default: a limiter's outage is not the service's.
    pub fn fail_open(mut self) -> Self {
        self.on_failure = OnFailure::Open;
        self
    }

    /// Refuses requests while the store cannot decide: 503 with `Retry-After`.
    /// [The guide](crate::guide::when_redis_fails) shows all three at work.
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
            first: PhantomData,
            policy: self.policy,
            tiers: self.tiers,
            store: Fallback::new(self.store, memory),
            respond: self.respond,
            on_failure: self.on_failure,
            patience: self.patience,
        }
    }
}
