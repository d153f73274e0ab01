//! Requests that wait instead of being denied.

use std::time::Duration;

use super::RateLimitLayer;

impl<A, K, St, R, O, T> RateLimitLayer<A, K, St, R, O, T> {
    /// Makes requests that would be denied wait until they are admitted, for up to `max_wait` in total: for clients of other
    /// services' APIs.
    ///
    /// A request waits for the `retry_after` of its denial, and then asks the store again. Requests for one key wait in a
    /// queue: they are admitted in the order of arrival, the head of the queue asks the store, and new requests join at the end.
    /// A request is denied if it would have to wait for longer than `max_wait`, if `max_wait` has elapsed, or if [its queue is
    /// full](Self::max_waiters). A waiting request reserves no capacity of the inner service, and is removed from the queue when
    /// its client disconnects. Each layer of each process has its own queues, without an order between them. Refunds take effect
    /// when the head asks the store the next time.
    ///
    /// A request of a high [cost](crate::Tier::cost) at the head does not block cheaper ones: the request behind the head overtakes it
    /// if it can be admitted now and the head can still be admitted within its own `max_wait` afterwards. Otherwise the order of
    /// arrival holds. So under a constant load of cheap requests, a costly one may wait for up to `max_wait`, and without a bound
    /// ([`Duration::MAX`]) forever. The `Retry-After` of a denied request is its own, unless there is enough quota and only the
    /// order of arrival denies it: then it is the head's.
    ///
    /// A queue is bounded, but there may be one for every key: on a server that counts by address, choose a short `max_wait`,
    /// or limit the number of concurrent requests.
    ///
    /// A queueing [leaky bucket](crate::LeakyBucket) delays requests that it has admitted; `max_wait` does not include that
    /// delay.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{AsError, Global, MemoryStore, Quota, RateLimitLayer};
    /// use tower::{BoxError, ServiceBuilder, service_fn};
    ///
    /// // The API allows ten requests per second: wait instead of being denied.
    /// let limit = RateLimitLayer::sliding_log("their-api", Quota::per_second(10), Global, MemoryStore::new())
    ///     .wait(Duration::from_secs(30))
    ///     .respond_with(AsError);
    /// let client = ServiceBuilder::new()
    ///     .layer(limit)
    ///     .service(service_fn(async |path: &str| Ok::<_, BoxError>(path.len())));
    /// # let _ = client;
    /// ```
    pub fn wait(self, max_wait: Duration) -> Self {
        self.map_settings(|settings| settings.wait(max_wait))
    }

    /// The maximal number of requests that [wait](Self::wait) for one key: 100 by default, at least 1.
    pub fn max_waiters(self, max_waiters: usize) -> Self {
        self.map_settings(|settings| settings.max_waiters(max_waiters))
    }
}
