//! The builder of a Redis store.

use std::{fmt, sync::Arc, time::Duration};

use deadpool_redis::redis::ConnectionInfo;

use super::{
    batcher::Batcher,
    connection::{ConnectionConfig, Reconnects},
    denial_cache::DenialCache,
    endpoint::{Deployment, Endpoint},
    error::StoreError,
    holder::NodeHolder,
    leases::Leases,
    protocol::{CallEncoder, Prefix},
    router::Router,
    store::{Inner, RedisStore},
};
use crate::{algorithm::ALGORITHMS, clock::Clock, config_error::ConfigError, metrics};

/// The bounds of the connect timeout, which is five deadlines. Connecting takes several round trips, but an attempt that hangs
/// delays the next one. Requests wait for a connection no longer than their deadline.
const MIN_CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
const MAX_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximal deadline: no client waits for longer.
const MAX_DEADLINE: Duration = Duration::from_secs(60 * 60);

impl RedisStore {
    /// A store at a `redis://` (or, with the feature `tls`, `rediss://`) address, with default settings.
    ///
    /// It does not connect yet: an invalid address is an error here, an unreachable Redis is an error of
    /// [`check`](Self::check).
    ///
    /// **Services on one Redis share their limits of the same name**, algorithm and window, also if they are different services. Give each
    /// service its own [`prefix`](RedisStoreBuilder::prefix), unless they are to share:
    ///
    /// ```
    /// use tollgate::{Key, Limit, Quota, RedisStore, TokenBucket};
    ///
    /// let url = "redis://127.0.0.1:6379";
    /// let (shop, blog) = (RedisStore::connect(url)?, RedisStore::connect(url)?);
    /// let forum = RedisStore::builder().url(url).prefix("forum").build()?;
    ///
    /// let limit = Limit::new("user", TokenBucket::new(Quota::per_minute(100)));
    /// let key = |store: RedisStore| store.redis_key(&limit, &Key::named("user", 12345));
    /// assert_eq!(key(shop), key(blog)); // one counter for both
    /// assert_eq!(key(forum), "forum:token_bucket:user:60000000:user:12345");
    /// # Ok::<(), tollgate::StoreError>(())
    /// ```
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        Self::builder().url(url).build()
    }

    /// A builder for other settings.
    pub fn builder() -> RedisStoreBuilder {
        RedisStoreBuilder::new()
    }
}

/// Builds a [`RedisStore`].
///
/// ```
/// use std::time::Duration;
/// use tollgate::RedisStore;
///
/// # fn main() -> Result<(), tollgate::StoreError> {
/// let store = RedisStore::builder()
///     .url("redis://127.0.0.1:6379")
///     .username("limiter")
///     .password("secret")
///     .database(2)
///     .prefix("shop")
///     .deadline(Duration::from_millis(20))
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisStoreBuilder {
    endpoint: Endpoint,
    pool_size: usize,
    max_calls_in_flight: Option<usize>,
    prefix: String,
    deadline: Duration,
    cache_denials: bool,
    clock: Option<Clock>,
}

impl RedisStoreBuilder {
    pub(super) fn new() -> Self {
        Self {
            endpoint: Endpoint::default(),
            pool_size: 2,
            max_calls_in_flight: None,
            prefix: "rate_limit".into(),
            deadline: Duration::from_millis(100),
            cache_denials: true,
            clock: None,
        }
    }

    /// The address of Redis: `redis://[USER][:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://` for TLS (with the
    /// feature `tls`), or `redis+unix://`.
    #[must_use]
    pub fn url(mut self, url: &str) -> Self {
        self.endpoint.deployment = Some(Deployment::Url(url.into()));
        self
    }

    /// The address and the settings of connections as redis-rs defines them, with TLS certificates and TCP settings. With
    /// [`sentinels`](Self::sentinels) or a [`cluster`](Self::cluster), its address is ignored and its settings apply.
    ///
    /// ```no_run
    /// # #[cfg(feature = "tls")]
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use tollgate::{RedisStore, redis};
    ///
    /// let root_cert = Some(std::fs::read("ca.pem")?);
    /// let certificates = redis::TlsCertificates { client_tls: None, root_cert };
    /// let client = redis::Client::build_with_tls("rediss://cache.internal:6380", certificates)?;
    /// let store = RedisStore::builder().connection_info(client.get_connection_info().clone()).build()?;
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "tls"))]
    /// # fn main() {}
    /// ```
    #[must_use]
    pub fn connection_info(mut self, info: ConnectionInfo) -> Self {
        if let Some(Deployment::Url(_)) = self.endpoint.deployment {
            self.endpoint.deployment = None;
        }
        self.endpoint.info = Some(Box::new(info));
        self
    }

    /// A primary that sentinels monitor, by its name in their configuration. For each new connection, the store asks all
    /// sentinels for the address of the primary at once, and uses the first answer.
    ///
    /// A user and a password in these addresses are for the sentinels themselves; those of Redis are set with
    /// [`username`](Self::username), [`password`](Self::password) and [`database`](Self::database). With `rediss://`,
    /// connections to both use TLS.
    ///
    /// ```
    /// # fn main() -> Result<(), tollgate::StoreError> {
    /// use tollgate::RedisStore;
    ///
    /// let sentinels = ["redis://10.0.0.1:26379", "redis://10.0.0.2:26379", "redis://10.0.0.3:26379"];
    /// let store = RedisStore::builder().sentinels("mymaster", sentinels).password("secret").build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn sentinels<U: Into<String>>(mut self, name: impl Into<String>, urls: impl IntoIterator<Item = U>) -> Self {
        let urls = urls.into_iter().map(U::into).collect();
        self.endpoint.deployment = Some(Deployment::Sentinels(name.into(), urls));
        self
    }

    /// A cluster, by the addresses of some of its nodes, which report the others. The user, the password and TLS of the first
    /// address apply to all nodes.
    ///
    /// Keys are distributed over the nodes. Tiers whose keys are in one slot are charged in one round trip, all or none. Tiers
    /// in several slots are charged in parallel, and if one of them denies, the charges of the others are refunded. No limit is
    /// exceeded, but if a refund is lost, its charge stays until it expires. Requests are batched only within a slot.
    ///
    /// ```
    /// # fn main() -> Result<(), tollgate::StoreError> {
    /// use tollgate::RedisStore;
    ///
    /// let store = RedisStore::builder().cluster(["redis://10.0.0.1:6379", "redis://10.0.0.2:6379"]).build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn cluster<U: Into<String>>(mut self, urls: impl IntoIterator<Item = U>) -> Self {
        let urls = urls.into_iter().map(U::into).collect();
        self.endpoint.deployment = Some(Deployment::Cluster(urls));
        self
    }

    /// The user name, instead of the one in the address.
    #[must_use]
    pub fn username(mut self, username: impl Into<String>) -> Self {
        self.endpoint.username = Some(username.into());
        self
    }

    /// The password, instead of the one in the address.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.endpoint.password = Some(password.into());
        self
    }

    /// The database, instead of the one in the address.
    #[must_use]
    pub fn database(mut self, database: u32) -> Self {
        self.endpoint.database = Some(database);
        self
    }

    /// The number of connections, 2 by default, to each node of a cluster. A connection carries many calls at a time.
    #[must_use]
    pub fn pool_size(mut self, pool_size: usize) -> Self {
        self.pool_size = pool_size;
        self
    }

    /// The maximal number of calls in flight, for each slot of a cluster; at least 2.
    ///
    /// By default it follows the latency: two, and one more for every 0.25 ms of the shortest recent round trip. So a Redis nearby gets
    /// few and large batches, and a distant one is kept busy.
    #[must_use]
    pub fn max_calls_in_flight(mut self, max_calls_in_flight: usize) -> Self {
        self.max_calls_in_flight = Some(max_calls_in_flight);
        self
    }

    /// The prefix of every key, `rate_limit` by default. Stores with different prefixes share no state; of stores with the same prefix on
    /// one Redis, limits with the same name, algorithm and window share their counters.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// The maximal duration of a call, including the wait for a connection: 100 ms by default.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Whether to cache denials, which is the default: requests for an exhausted key are denied without asking Redis.
    ///
    /// A denial is cached until its `retry_after` has elapsed, for a second at most. So an attack on one key causes almost no
    /// load on Redis, and a refund by another process takes effect within a second. For the other tiers of a request, the cache
    /// repeats their last verdicts.
    #[must_use]
    pub fn cache_denials(mut self, cache_denials: bool) -> Self {
        self.cache_denials = cache_denials;
        self
    }

    /// Sends the time of this clock with every call, instead of using the clock of Redis. For tests: processes whose clocks
    /// differ do not agree on a limit, Redis then keeps keys for at least an hour, and denials are not cached.
    #[must_use]
    pub fn clock(mut self, clock: impl Into<Clock>) -> Self {
        self.clock = Some(clock.into());
        self
    }

    /// Builds the store without connecting, or returns an error if a setting is invalid.
    pub fn build(self) -> Result<RedisStore, StoreError> {
        self.check_settings().map_err(StoreError::Setting)?;
        let connect_timeout = (5 * self.deadline).clamp(MIN_CONNECT_TIMEOUT, MAX_CONNECT_TIMEOUT);
        let reconnects = Arc::<Reconnects>::default();
        let config = |info| ConnectionConfig {
            info,
            connect_timeout,
            pool_size: self.pool_size,
            reconnects: Arc::clone(&reconnects),
        };
        let seeds = self.endpoint.seeds(config)?;
        metrics::describe();
        let denial_cache = (self.cache_denials && self.clock.is_none()).then(DenialCache::default);
        let leases = self.clock.is_none().then(|| Arc::new(Leases::new()));
        let encoder = CallEncoder::new(Prefix(self.prefix.into()), self.clock.clone());
        let router = Router::new(seeds, encoder, self.deadline);
        let batcher = Batcher::new(
            Arc::clone(&router),
            self.max_calls_in_flight,
            denial_cache,
            leases.clone(),
            Arc::new(NodeHolder::new(reconnects)),
            self.deadline,
        );
        Ok(RedisStore(Arc::new(Inner {
            batcher: Arc::new(batcher),
            leases,
            router,
            clock: self.clock.unwrap_or_default(),
        })))
    }

    fn check_settings(&self) -> Result<(), ConfigError> {
        if !(1..=1024).contains(&self.pool_size) {
            return Err(ConfigError::new("pool_size", self.pool_size, "be from 1 to 1024"));
        }
        if self.max_calls_in_flight.is_some_and(|max| max < 2) {
            let max = self.max_calls_in_flight.unwrap_or_default();
            return Err(ConfigError::new("max_calls_in_flight", max, "be at least 2"));
        }
        if self.deadline.is_zero() || self.deadline > MAX_DEADLINE {
            let must = "be longer than 0 and at most an hour";
            return Err(ConfigError::new("deadline", format_args!("{:?}", self.deadline), must));
        }
        let printable = |byte: u8| byte.is_ascii_graphic() && !b"{}".contains(&byte);
        if self.prefix.is_empty() || self.prefix.len() > 64 || !self.prefix.bytes().all(printable) {
            let must = "be 1 to 64 printable ASCII characters other than braces and blanks";
            return Err(ConfigError::new("prefix", format_args!("{:?}", self.prefix), must));
        }
        // The first algorithm name in a key marks the end of the prefix.
        if self.prefix.split(':').any(|part| ALGORITHMS.contains(&part)) {
            let must = "have no algorithm's name between its colons";
            return Err(ConfigError::new("prefix", format_args!("{:?}", self.prefix), must));
        }
        Ok(())
    }
}

impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStoreBuilder")
            .field("address", &self.endpoint.redacted())
            .field("pool_size", &self.pool_size)
            .field("max_calls_in_flight", &self.max_calls_in_flight)
            .field("prefix", &self.prefix)
            .field("deadline", &self.deadline)
            .field("cache_denials", &self.cache_denials)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
