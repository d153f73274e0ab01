//! Requests that wait in place of being refused.

use std::{sync::Arc, time::Duration};

use super::RateLimitLayer;
use crate::waiting::{Patience, WAITERS, WaitingRoom};

impl<A, K, St, R, P> RateLimitLayer<A, K, St, R, P> {
    /// Holds requests that would be refused, for up to `max` in all, until they are admitted: what callers of other
    /// people's APIs want.
    ///
    /// A request is held for as long as the store tells it to, and then the store is asked again. Requests that wait for one
    /// key stand in line: they pass in the order of their coming, and only the first of them asks. Whoever comes new gets in
    /// behind them. A request is refused, as ever, when it would have to wait for longer than `max`, when `max` has gone by,
    /// or when [the line is too long](Self::waiters). While it waits it sits on no ready service, and when its client leaves, so
    /// does it. Each process has its own lines, and so has each layer; between them, whoever asks first is first. What is given
    /// back meanwhile is found when the store is asked next.
    ///
    /// A line is bounded, but there may be one for every key: on a server that counts by address, say a short `max`, or limit
    /// how many requests it takes at once.
    ///
    /// A [leaky bucket](crate::LeakyBucket) that queues holds what it admits for its own reasons, which comes on top.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{AsError, Global, MemoryStore, Quota, RateLimitLayer};
    /// use tower::{BoxError, ServiceBuilder, service_fn};
    ///
    /// // Their API allows ten requests a second, and we would rather wait than be refused.
    /// let limit = RateLimitLayer::sliding_log("their-api", Quota::per_second(10), Global, MemoryStore::new())
    ///     .wait(Duration::from_secs(30))
    ///     .respond_with(AsError);
    /// let client = ServiceBuilder::new()
    ///     .layer(limit)
    ///     .service(service_fn(async |path: &str| Ok::<_, BoxError>(path.len())));
    /// # let _ = client;
    /// ```
    pub fn wait(mut self, max: Duration) -> Self {
        let room = match self.patience {
            Some(Patience { room, .. }) => room,
            None => Arc::new(WaitingRoom::new(WAITERS)),
        };
        self.patience = Some(Patience { max, room });
        self
    }

    /// How many requests [wait](Self::wait) for one key at most: 100 unless told otherwise, and at least 1.
    pub fn waiters(mut self, waiters: usize) -> Self {
        let room = Arc::new(WaitingRoom::new(waiters));
        // Nothing is ever worth waiting for in no time.
        let max = self.patience.map_or(Duration::ZERO, |patience| patience.max);
        self.patience = Some(Patience { max, room });
        self
    }
}
