//! Settings of a Redis store.

use std::{fmt, sync::Arc, time::Duration};

use deadpool_redis::redis::ConnectionInfo;

use super::{
    address::{Address, Place},
    error::StoreError,
    requests::{Denied, Queues, Shared},
    servers::Terms,
    store::RedisStore,
    wire::Prefix,
};
use crate::{algorithm::ALGORITHMS, clock::Clock, invalid::Invalid, measure};

/// How long a connection may take to be made: five deadlines, within these bounds. Requests wait no longer than their
/// deadline for it. It takes several round trips, but whoever waits for one that never comes is not trying the next.
const SHORTEST_PATIENCE: Duration = Duration::from_millis(500);
const LONGEST_PATIENCE: Duration = Duration::from_secs(5);

/// The longest deadline: whoever waits for longer than this has been forgotten.
const LONGEST: Duration = Duration::from_secs(60 * 60);

impl RedisStore {
    /// A store at a `redis://` (or, with feature `tls`, `rediss://`) address, with everything else by default.
    ///
    /// It does not connect yet: a wrong address is an error here, a Redis that is not there is one of
    /// [`check`](Self::check).
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        Self::builder().url(url).build()
    }

    /// A store with settings of its own.
    pub fn builder() -> RedisStoreBuilder {
        RedisStoreBuilder::new()
    }
}

/// Settings of a [`RedisStore`].
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
    address: Address,
    pool_size: usize,
    prefix: String,
    deadline: Duration,
    repeat_refusals: bool,
    clock: Option<Clock>,
}

impl RedisStoreBuilder {
    pub(super) fn new() -> Self {
        Self {
            address: Address::default(),
            pool_size: 2,
            prefix: "rate_limit".into(),
            deadline: Duration::from_millis(100),
            repeat_refusals: true,
            clock: None,
        }
    }

    /// Where Redis is: `redis://[USER][:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://` for TLS (with the
    /// feature `tls`), or `redis+unix://`.
    #[must_use]
    pub fn url(mut self, url: &str) -> Self {
        self.address.place = Some(Place::Url(url.into()));
        self
    }

    /// Where Redis is and how to get in, in redis-rs's own words: TLS certificates, TCP settings and all. Sentinels and
    /// clusters are where they are said to be, and the rest of it is said to them.
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
        if let Some(Place::Url(_)) = self.address.place {
            self.address.place = None;
        }
        self.address.info = Some(Box::new(info));
        self
    }

    /// A primary that sentinels watch, by the name that they call it by. Whenever a connection is made, all of these are
    /// asked who it is now, and the first answer counts.
    ///
    /// A user and a password in their addresses are for the sentinels themselves; those of Redis are given with
    /// [`username`](Self::username), [`password`](Self::password) and [`database`](Self::database). With `rediss://`, both
    /// are spoken to by TLS.
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
        self.address.place = Some(Place::Sentinels(name.into(), urls));
        self
    }

    /// A cluster, by the addresses of some of its nodes, which know the others. What the first address says of users,
    /// passwords and TLS is said to all.
    ///
    /// Keys are spread over the nodes. Tiers whose keys are in one slot are charged in one round trip, as ever; those in
    /// several slots side by side, and what was taken is given back when one of them refuses. No limit is exceeded; but a
    /// charge may linger when that is lost. Requests share calls only within a slot.
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
        self.address.place = Some(Place::Cluster(urls));
        self
    }

    /// The user to log in as, instead of the address's.
    #[must_use]
    pub fn username(mut self, username: impl Into<String>) -> Self {
        self.address.username = Some(username.into());
        self
    }

    /// The password to log in with, instead of the address's.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.address.password = Some(password.into());
        self
    }

    /// The database to use, instead of the address's.
    #[must_use]
    pub fn database(mut self, database: u32) -> Self {
        self.address.database = Some(database);
        self
    }

    /// How many connections to share, 2 by default, with each node of a cluster. One carries many calls at a time.
    #[must_use]
    pub fn pool_size(mut self, pool_size: usize) -> Self {
        self.pool_size = pool_size;
        self
    }

    /// What every key begins with, `rate_limit` by default. Stores of different prefixes know nothing of each other.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// The longest a call may take in all, 100 ms by default, waiting for a connection included.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Whether to refuse a spent key again without asking Redis, which is the default: until it may have something
    /// again, and for a second at most. So an attack on a key costs Redis next to nothing, and what another node gives
    /// back shows within a second. Of the other tiers of such a request, the last that Redis said is repeated.
    #[must_use]
    pub fn repeat_refusals(mut self, repeat_refusals: bool) -> Self {
        self.repeat_refusals = repeat_refusals;
        self
    }

    /// Names the time of every call by this clock, instead of leaving it to Redis. For tests: nodes whose clocks
    /// differ do not agree on a limit, Redis then keeps keys for an hour at least, and no refusal is repeated.
    #[must_use]
    pub fn clock(mut self, clock: impl Into<Clock>) -> Self {
        self.clock = Some(clock.into());
        self
    }

    /// The store, which does not connect yet; or what is wrong with the settings.
    pub fn build(self) -> Result<RedisStore, StoreError> {
        self.check_settings().map_err(StoreError::Setting)?;
        let patience = (5 * self.deadline).clamp(SHORTEST_PATIENCE, LONGEST_PATIENCE);
        let terms = |info| Terms {
            info,
            patience,
            lanes: self.pool_size,
        };
        let servers = self.address.servers(terms)?;
        measure::describe();
        Ok(RedisStore(Arc::new(Shared {
            queues: Queues::to(&servers),
            servers,
            lanes: self.pool_size,
            denied: (self.repeat_refusals && self.clock.is_none()).then(Denied::default),
            prefix: Prefix(self.prefix.into()),
            deadline: self.deadline,
            named_time: self.clock.is_some(),
            clock: self.clock.unwrap_or_default(),
        })))
    }

    fn check_settings(&self) -> Result<(), Invalid> {
        if !(1..=1024).contains(&self.pool_size) {
            return Err(Invalid::new("pool_size", self.pool_size, "be from 1 to 1024"));
        }
        if self.deadline.is_zero() || self.deadline > LONGEST {
            let must = "be longer than nothing and at most an hour";
            return Err(Invalid::new("deadline", format_args!("{:?}", self.deadline), must));
        }
        let printable = |byte: u8| byte.is_ascii_graphic() && !b"{}".contains(&byte);
        if self.prefix.is_empty() || self.prefix.len() > 64 || !self.prefix.bytes().all(printable) {
            let must = "be 1 to 64 printable ASCII characters other than braces and blanks";
            return Err(Invalid::new("prefix", format_args!("{:?}", self.prefix), must));
        }
        // Where the prefix ends is where the first algorithm's name begins.
        if self.prefix.split(':').any(|part| ALGORITHMS.contains(&part)) {
            let must = "have no algorithm's name between its colons";
            return Err(Invalid::new("prefix", format_args!("{:?}", self.prefix), must));
        }
        Ok(())
    }
}

impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStoreBuilder")
            .field("address", &self.address.shown())
            .field("pool_size", &self.pool_size)
            .field("prefix", &self.prefix)
            .field("deadline", &self.deadline)
            .field("repeat_refusals", &self.repeat_refusals)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
