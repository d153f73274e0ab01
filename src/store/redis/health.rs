//! The health of the nodes of a Redis store.

use std::{fmt, sync::Arc, time::Duration};

use super::{batcher::Overload, circuit_breaker::CircuitBreaker, error::StoreError};

/// The health of the nodes of a [`RedisStore`](crate::RedisStore), by their circuit breakers. Reading it sends no calls.
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
pub struct Health {
    nodes: Vec<NodeHealth>,
    is_overloaded: bool,
}

/// The health of one node: a standalone Redis, or a node of a cluster.
#[derive(Clone, Debug)]
pub struct NodeHealth {
    address: Arc<str>,
    down: Option<(Duration, StoreError)>,
}

impl Health {
    pub(super) fn of(breakers: &[Arc<CircuitBreaker>], overload: &Overload) -> Self {
        Self {
            nodes: breakers.iter().map(|breaker| NodeHealth::of(breaker)).collect(),
            is_overloaded: overload.is_overloaded(),
        }
    }

    /// Whether all nodes are up. Requests that need a node which is down fail fast.
    pub fn is_up(&self) -> bool {
        self.nodes.iter().all(NodeHealth::is_up)
    }

    /// The standalone Redis, or every known node of a cluster.
    pub fn nodes(&self) -> &[NodeHealth] {
        &self.nodes
    }

    /// Whether requests were shed, or decided too late, within the last second: Redis is up, but cannot decide as many requests as
    /// there are. Requests that are shed are not sent, and fail with [`StoreError::Overloaded`].
    pub fn is_overloaded(&self) -> bool {
        self.is_overloaded
    }
}

impl NodeHealth {
    fn of(breaker: &CircuitBreaker) -> Self {
        let down = breaker
            .open()
            .as_ref()
            .map(|open| (open.since.elapsed(), open.why.clone()));
        let address = Arc::clone(breaker.address());
        Self { address, down }
    }

    /// The address of the node.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether the node is up: its circuit breaker is closed.
    pub fn is_up(&self) -> bool {
        self.down.is_none()
    }

    /// How long its circuit breaker has been open.
    pub fn down_for(&self) -> Option<Duration> {
        self.down.as_ref().map(|(down_for, _)| *down_for)
    }

    /// The failure that opened its circuit breaker, or that of a later probe if the cause has changed.
    pub fn error(&self) -> Option<&StoreError> {
        self.down.as_ref().map(|(_, error)| error)
    }
}

impl fmt::Display for NodeHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.down {
            None => write!(f, "{} is up", self.address),
            Some((down_for, error)) => write!(f, "{} has been down for {down_for:.1?}: {error}", self.address),
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, node) in self.nodes.iter().enumerate() {
            write!(f, "{}{node}", if index > 0 { "; " } else { "" })?;
        }
        match self.is_overloaded {
            true => f.write_str("; overloaded: requests are shed"),
            false => Ok(()),
        }
    }
}
