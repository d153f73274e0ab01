//! Connects to a node: at a fixed address, or at the address of the primary that sentinels report.

use std::sync::{Mutex, PoisonError};

use deadpool_redis::{
    Connection, Pool, PoolError,
    redis::{ErrorKind, RedisError},
};

use super::{super::terms::Terms, sentinels::Sentinels};

pub(crate) struct Way {
    /// `None` if the address is fixed.
    sentinels: Option<Sentinels>,
    terms: Terms,
    /// The pool of the last address.
    pool: Mutex<Option<(String, Pool)>>,
}

impl Way {
    pub(crate) fn straight(terms: Terms) -> Self {
        Self {
            sentinels: None,
            terms,
            pool: Mutex::default(),
        }
    }

    pub(crate) fn by(sentinels: Sentinels, terms: Terms) -> Self {
        Self {
            sentinels: Some(sentinels),
            ..Self::straight(terms)
        }
    }

    /// A new connection to the current address.
    pub(super) async fn connect(&self) -> Result<Connection, RedisError> {
        let terms = match &self.sentinels {
            None => self.terms.clone(),
            Some(sentinels) => {
                let (host, port) = sentinels.primary(self.terms.patience).await?;
                self.terms.at(&host, port)
            }
        };
        let connected = self.pool_to(&terms)?.get().await;
        connected.map_err(|error| match error {
            PoolError::Backend(error) => error,
            other => RedisError::from((ErrorKind::Io, "the pool gave no connection", other.to_string())),
        })
    }

    fn pool_to(&self, terms: &Terms) -> Result<Pool, RedisError> {
        let address = terms.address();
        let mut known = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((to, pool)) if *to == address => Ok(pool.clone()),
            _ => {
                let pool = terms.pool()?;
                *known = Some((address, pool.clone()));
                Ok(pool)
            }
        }
    }
}
