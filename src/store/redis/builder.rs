//! Settings of a Redis store.

use std::{fmt, sync::Arc, time::Duration};

use deadpool_redis::{
    Manager, Pool, Runtime,
    redis::{AsyncConnectionConfig, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo, RedisError},
};

use super::{RedisStore, Shared, call::Prefix, denied::Denied, error::StoreError, lanes::Lanes, queue::Queue};
use crate::{algorithm::ALGORITHMS, clock::Clock, invalid::Invalid};

/// How long a connection may take to be made. Requests wait no longer than their deadline for it.
const CONNECTING: Duration = Duration::from_secs(5);

/// The longest deadline: whoever waits for longer than this has been forgotten.
const LONGEST: Duration = Duration::from_secs(60 * 60);

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
    username: Option<String>,
    password: Option<String>,
    database: Option<u32>,
    pool_size: usize,
    prefix: String,
    deadline: Duration,
    repeat_refusals: bool,
    clock: Option<Clock>,
}

#[derive(Clone)]
enum Address {
    Url(String),
    Info(Box<ConnectionInfo>),
}

impl RedisStoreBuilder {
    pub(super) fn new() -> Self {
        Self {
            address: Address::Url("redis://127.0.0.1:6379".into()),
            username: None,
            password: None,
            database: None,
            pool_size: 2,
            prefix: "rate_limit".into(),
            deadline: Duration::from_millis(100),
            repeat_refusals: true,
            clock: None,
        }
    }

    /// Where Redis is: `redis://[USER][:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://` for TLS, or `redis+unix://`.
    #[must_use]
    pub fn url(mut self, url: &str) -> Self {
        self.address = Address::Url(url.into());
        self
    }

    /// Where Redis is and how to get in, in redis-rs's own words: TLS certificates, TCP settings and all.
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
        self.address = Address::Info(Box::new(info));
        self
    }

    /// The user to log in as, instead of the address's.
    #[must_use]
    pub fn username(mut self, username: impl Into<String>) -> Self {
        self.username = Some(username.into());
        self
    }

    /// The password to log in with, instead of the address's.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// The database to use, instead of the address's.
    #[must_use]
    pub fn database(mut self, database: u32) -> Self {
        self.database = Some(database);
        self
    }

    /// How many connections to share, 2 by default. One carries many calls at a time.
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
        let info = self.info()?;
        let address: Arc<str> = info.addr().to_string().into();
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECTING))
            .set_response_timeout(None);
        let manager = Manager::new_with_config(info, config).map_err(|error| self.bad_address(error))?;
        let pool = Pool::builder(manager).max_size(self.pool_size).runtime(Runtime::Tokio1);
        let pool = pool
            .build()
            .expect("a pool without timeouts needs nothing that could be missing");
        Ok(RedisStore(Arc::new(Shared {
            lanes: Lanes::new(address, pool, self.pool_size),
            queue: Queue::default(),
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

    fn info(&self) -> Result<ConnectionInfo, StoreError> {
        let info = match &self.address {
            Address::Url(url) => {
                let info = url.as_str().into_connection_info();
                info.map_err(|error| self.bad_address(error))?
            }
            Address::Info(info) => (**info).clone(),
        };
        // Small writes that wait for an answer each: nothing is gained by holding them back.
        let tcp = info.tcp_settings().clone().set_nodelay(true);
        let info = info.set_tcp_settings(tcp);
        Ok(info.clone().set_redis_settings(self.login(&info)?))
    }

    fn login(&self, info: &ConnectionInfo) -> Result<RedisConnectionInfo, StoreError> {
        let mut login = info.redis_settings().clone();
        if login.lib_name().is_none() {
            login = login.set_lib_name("tollgate", env!("CARGO_PKG_VERSION"));
        }
        if let Some(username) = &self.username {
            login = login.set_username(username);
        }
        if let Some(password) = &self.password {
            login = login.set_password(password);
        }
        if let Some(database) = self.database {
            login = login.set_db(database.into());
        }
        // redis-rs would log nobody in, and the default user would do the work.
        match (login.username(), login.password()) {
            (Some(name), None) => {
                let invalid = Invalid::new("username", format_args!("{name:?}"), "come with a password");
                Err(StoreError::Setting(invalid))
            }
            _ => Ok(login),
        }
    }

    fn bad_address(&self, error: RedisError) -> StoreError {
        StoreError::Address {
            url: self.address.shown(),
            source: Arc::new(error),
        }
    }
}

impl Address {
    /// As errors and logs may show it.
    fn shown(&self) -> String {
        match self {
            Self::Url(url) => without_password(url),
            Self::Info(info) => info.addr().to_string(),
        }
    }
}

/// An address as it may be shown: without whatever could be a password, wherever it stands.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let place = place.split_once('?').map_or(place, |(place, _)| place);
    // Without a host, what stands where the port would is a password that lost its `@`.
    let (host, port) = place.split_once(':').unwrap_or((place, ""));
    let place = if host.is_empty() && !port.is_empty() { "" } else { place };
    let hidden = if place.len() == rest.len() { "" } else { "***" };
    match scheme {
        "" => format!("{hidden}{place}"),
        _ => format!("{scheme}://{hidden}{place}"),
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
