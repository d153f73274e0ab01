//! `--store` and `--prefix`: where counters are stored.

use clap::Args;
use tollgate::{RedisStore, RedisStoreBuilder};

use super::output::Failure;

/// The value of `--store` if that is not given: the arguments of a process, and a password in them, are visible to every user.
pub(crate) const STORE_VARIABLE: &str = "TOLLGATE_STORE";

/// The options of subcommands that work with or without Redis.
#[derive(Args)]
pub(crate) struct StoreArgs {
    /// Where counters are stored: `memory`, or `redis://HOST:PORT` to share them between processes
    #[arg(long, value_name = "STORE", default_value = "memory", env = STORE_VARIABLE, hide_env_values = true)]
    store: String,
    /// The prefix of all keys in Redis [default: rate_limit]
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
}

/// The options of subcommands that need Redis.
#[derive(Args)]
pub(crate) struct RedisArgs {
    /// The Redis that stores the counters: `redis://HOST:PORT`
    #[arg(long, value_name = "URL", env = STORE_VARIABLE, hide_env_values = true)]
    store: String,
    /// The prefix of all keys in Redis [default: rate_limit]
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
}

#[derive(Clone)]
pub(crate) enum StoreConfig {
    Memory,
    Redis(RedisConfig),
}

/// The URL of a Redis, and the prefix of the keys in it.
#[derive(Clone)]
pub(crate) struct RedisConfig {
    pub(crate) url: String,
    prefix: Option<String>,
}

impl StoreArgs {
    pub(crate) fn config(&self) -> Result<StoreConfig, Failure> {
        match (&*self.store, &self.prefix) {
            ("memory", None) => Ok(StoreConfig::Memory),
            ("memory", Some(_)) => Err(Failure::Usage(
                "--prefix is for keys in Redis: add --store redis://HOST:PORT".into(),
            )),
            (url, prefix) if url.contains("://") => RedisConfig::new(url, prefix.as_deref()).map(StoreConfig::Redis),
            // The value is not repeated, because it may contain a password.
            _ => Err(Failure::Usage("--store must be memory or redis://HOST:PORT".into())),
        }
    }
}

impl RedisArgs {
    pub(crate) fn config(&self) -> Result<RedisConfig, Failure> {
        RedisConfig::new(&self.store, self.prefix.as_deref())
    }
}

impl RedisConfig {
    /// Validates the URL here: clap would repeat an invalid value with its password, the store's error does not.
    pub(crate) fn new(url: &str, prefix: Option<&str>) -> Result<Self, Failure> {
        if url == "memory" {
            let message = "--store must be redis://HOST:PORT: counters in memory are visible to their own process only";
            return Err(Failure::Usage(message.into()));
        }
        let redis = Self {
            url: url.to_owned(),
            prefix: prefix.map(ToOwned::to_owned),
        };
        match redis.builder().build() {
            Ok(_) => Ok(redis),
            Err(error) => Err(Failure::Usage(format!("--store cannot be used: {error}"))),
        }
    }

    /// Configures a store with this URL and prefix.
    pub(crate) fn builder(&self) -> RedisStoreBuilder {
        let store = RedisStore::builder().url(&self.url);
        match &self.prefix {
            Some(prefix) => store.prefix(prefix),
            None => store,
        }
    }

    /// A prefix for temporary keys, below `--prefix` if one is given.
    pub(crate) fn sub_prefix(&self, name: &str) -> String {
        match &self.prefix {
            Some(prefix) => format!("{prefix}:{name}"),
            None => name.to_owned(),
        }
    }
}
