//! `--store` and `--prefix`: where limits count.

use clap::Args;
use tollgate::{RedisStore, RedisStoreBuilder};

use super::failure::Failure;

/// For subcommands that can do without a Redis.
#[derive(Args)]
pub(crate) struct StoreArgs {
    /// Where limits count: `memory`, or `redis://HOST:PORT`, shared by all that use it
    #[arg(long, value_name = "STORE", default_value = "memory")]
    store: String,
    /// What all keys in Redis begin with [default: rate_limit]
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
}

/// For subcommands that look at a Redis.
#[derive(Args)]
pub(crate) struct RedisArgs {
    /// The Redis where limits count: `redis://HOST:PORT`
    #[arg(long, value_name = "URL")]
    store: String,
    /// What all keys in Redis begin with [default: rate_limit]
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
}

#[derive(Clone)]
pub(crate) enum Place {
    Memory,
    Redis(Redis),
}

/// A Redis, and the part of it that is used.
#[derive(Clone)]
pub(crate) struct Redis {
    pub(crate) url: String,
    prefix: Option<String>,
}

impl StoreArgs {
    pub(crate) fn place(&self) -> Result<Place, Failure> {
        match (&*self.store, &self.prefix) {
            ("memory", None) => Ok(Place::Memory),
            ("memory", Some(_)) => Err(Failure::Usage(
                "--prefix is for keys in Redis: give --store redis://HOST:PORT too".into(),
            )),
            (url, prefix) if url.contains("://") => Redis::new(url, prefix.as_deref()).map(Place::Redis),
            // It is not repeated: it may hold a password.
            _ => Err(Failure::Usage("--store must be memory or redis://HOST:PORT".into())),
        }
    }
}

impl RedisArgs {
    pub(crate) fn redis(&self) -> Result<Redis, Failure> {
        Redis::new(&self.store, self.prefix.as_deref())
    }
}

impl Redis {
    /// Clap would repeat a wrong value, with its password. The store's error does not.
    pub(crate) fn new(url: &str, prefix: Option<&str>) -> Result<Self, Failure> {
        if url == "memory" {
            let why = "--store must be redis://HOST:PORT: what a process counts in memory, only that process knows";
            return Err(Failure::Usage(why.into()));
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

    /// The store that services count in.
    pub(crate) fn builder(&self) -> RedisStoreBuilder {
        let store = RedisStore::builder().url(&self.url);
        match &self.prefix {
            Some(prefix) => store.prefix(prefix),
            None => store,
        }
    }

    /// A prefix of one's own, under that of the store if one was given.
    pub(crate) fn prefix_of_its_own(&self, name: &str) -> String {
        match &self.prefix {
            Some(prefix) => format!("{prefix}:{name}"),
            None => name.to_owned(),
        }
    }
}
