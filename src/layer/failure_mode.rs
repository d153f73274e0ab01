//! What happens to requests while the store fails.

use super::RateLimitLayer;
use crate::{
    service::OnFailure,
    store::{Fallback, MemoryStore},
};

impl<A, K, St, R, O, T> RateLimitLayer<A, K, St, R, O, T> {
    /// Admits requests unchecked while the store fails.
    ///
    /// This is the default: an outage of the limiter should not become an outage of the service.
    ///
    /// If the store fails for some limits of a request only, as a cluster does while one of its nodes is down, the other limits decide,
    /// all or none; [`Decision::unchecked_limits`](crate::Decision::unchecked_limits) returns those that were not checked.
    pub fn fail_open(self) -> Self {
        self.map_settings(|settings| settings.on_failure(OnFailure::Open))
    }

    /// Rejects requests while the store fails: 503 with `Retry-After`.
    ///
    /// If the store fails for some limits of a request only, the request is rejected too, and what the others were charged is refunded.
    /// Shadows do not count: a request passes without them.
    ///
    /// [The guide](crate::guide::when_redis_fails) shows all three failure modes.
    pub fn fail_closed(self) -> Self {
        self.map_settings(|settings| settings.on_failure(OnFailure::Closed))
    }

    /// Falls back to a memory store while the store fails: each node then applies the same limits on its own.
    ///
    /// The memory store starts without state, so `n` nodes admit up to `n` times the limit during an outage. Responses still
    /// contain the remaining quota. Charges made during the outage stay in memory, and are not copied to the store. The layers
    /// of a service should share one memory store. If the store fails for some limits of a request only, the memory store decides about
    /// these, all or none with the others.
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
    pub fn fallback(self, memory: MemoryStore) -> RateLimitLayer<A, K, Fallback<St>, R, O, T> {
        self.map_settings(|settings| settings.fallback(memory))
    }
}
