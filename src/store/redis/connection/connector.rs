//! Connects to a node: at a fixed address, or at the address of the primary that sentinels report.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use deadpool_redis::{
    Connection, Pool, PoolError,
    redis::{self, ErrorKind, FromRedisValue, RedisError, Value},
};

use super::{config::ConnectionConfig, discovery::query_first, reconnects::Reconnects};

pub(crate) struct Connector {
    /// `None` if the address is fixed.
    sentinels: Option<Sentinels>,
    config: ConnectionConfig,
    /// The pool of the last address.
    pool: Mutex<Option<(String, Pool)>>,
}

impl Connector {
    pub(crate) fn direct(config: ConnectionConfig) -> Self {
        Self {
            sentinels: None,
            config,
            pool: Mutex::default(),
        }
    }

    pub(crate) fn by_sentinels(sentinels: Sentinels, config: ConnectionConfig) -> Self {
        Self {
            sentinels: Some(sentinels),
            ..Self::direct(config)
        }
    }

    /// The connections that were replaced.
    pub(super) fn reconnects(&self) -> &Reconnects {
        &self.config.reconnects
    }

    /// A new connection to the current address.
    pub(super) async fn connect(&self) -> Result<Connection, RedisError> {
        let config = match &self.sentinels {
            None => self.config.clone(),
            Some(sentinels) => {
                let (host, port) = sentinels.primary(self.config.connect_timeout).await?;
                self.config.at(&host, port)
            }
        };
        let connected = self.pool_to(&config)?.get().await;
        connected.map_err(|error| match error {
            PoolError::Backend(error) => error,
            other => RedisError::from((ErrorKind::Io, "the pool gave no connection", other.to_string())),
        })
    }

    fn pool_to(&self, config: &ConnectionConfig) -> Result<Pool, RedisError> {
        let address = config.address();
        let mut known = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((to, pool)) if *to == address => Ok(pool.clone()),
            _ => {
                let pool = config.pool()?;
                *known = Some((address, pool.clone()));
                Ok(pool)
            }
        }
    }
}

/// The sentinels that monitor a primary.
pub(crate) struct Sentinels {
    /// The name of the primary in the configuration of the sentinels.
    pub(crate) name: String,
    /// The connection settings of each sentinel.
    pub(crate) configs: Vec<ConnectionConfig>,
}

impl Sentinels {
    /// The address of the primary, from the first sentinel that reports one.
    pub(super) async fn primary(&self, connect_timeout: Duration) -> Result<(String, u16), RedisError> {
        let mut query = redis::cmd("SENTINEL");
        query.arg("get-master-addr-by-name").arg(&self.name);
        query_first(self.configs.iter().cloned(), &query, connect_timeout, parse_primary).await
    }
}

fn parse_primary(_: &ConnectionConfig, answer: Value) -> Result<(String, u16), RedisError> {
    let known = Option::<(String, u16)>::from_redis_value(answer)?;
    known.ok_or_else(|| {
        let unknown = "the sentinels watch no primary of this name";
        RedisError::from((ErrorKind::MasterNameNotFoundBySentinel, unknown))
    })
}
