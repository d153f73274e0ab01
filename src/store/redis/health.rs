//! What a store knows of the Redis that it asks.

use std::{fmt, sync::Arc, time::Duration};

use super::{error::StoreError, servers::Breaker};

/// How the Redis of a [`RedisStore`](crate::RedisStore) is, as far as its calls have told; nothing is asked to tell it.
///
/// ```no_run
/// # async fn look(store: tollgate::RedisStore) {
/// let health = store.health();
/// if !health.is_up() {
///     eprintln!("{health}"); // 127.0.0.1:6379 has been down for 3.2s: ...
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Health(Vec<ServerHealth>);

/// How one Redis is: the only one, or a node of a cluster.
#[derive(Clone, Debug)]
pub struct ServerHealth {
    address: Arc<str>,
    down: Option<(Duration, StoreError)>,
}

impl Health {
    pub(super) fn of(breakers: &[Arc<Breaker>]) -> Self {
        Self(breakers.iter().map(|breaker| ServerHealth::of(breaker)).collect())
    }

    /// Whether every Redis is asked. Otherwise requests that need one which is not are decided without it.
    pub fn is_up(&self) -> bool {
        self.0.iter().all(ServerHealth::is_up)
    }

    /// The only one, or every node of a cluster that is known to have keys.
    pub fn servers(&self) -> &[ServerHealth] {
        &self.0
    }
}

impl ServerHealth {
    fn of(breaker: &Breaker) -> Self {
        let down = breaker
            .open()
            .as_ref()
            .map(|open| (open.since.elapsed(), open.why.clone()));
        let address = Arc::clone(breaker.address());
        Self { address, down }
    }

    /// Which Redis.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether it is asked.
    pub fn is_up(&self) -> bool {
        self.down.is_none()
    }

    /// For how long it has not been.
    pub fn down_for(&self) -> Option<Duration> {
        self.down.as_ref().map(|(down_for, _)| *down_for)
    }

    /// Why it is not, as the last call to it told.
    pub fn error(&self) -> Option<&StoreError> {
        self.down.as_ref().map(|(_, error)| error)
    }
}

impl fmt::Display for ServerHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.down {
            None => write!(f, "{} is up", self.address),
            Some((down_for, error)) => write!(f, "{} has been down for {down_for:.1?}: {error}", self.address),
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, server) in self.0.iter().enumerate() {
            write!(f, "{}{server}", if index > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}
