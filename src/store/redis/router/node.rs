//! A node: a standalone Redis, the primary that sentinels report, or a node of a cluster.

use std::sync::{Arc, Weak};

use crate::store::redis::{
    circuit_breaker::{CircuitBreaker, Probe},
    connection::{ConnectionHandle, ConnectionPool, Connector},
    error::StoreError,
};

pub(crate) struct Node {
    pool: ConnectionPool,
    pub(crate) breaker: Arc<CircuitBreaker>,
}

impl Node {
    pub(crate) fn new(
        address: &str,
        connector: Connector,
        pool_size: usize,
        probe: impl FnOnce(Weak<Self>) -> Probe,
    ) -> Arc<Self> {
        Arc::new_cyclic(|node| Self {
            pool: ConnectionPool::new(connector, pool_size),
            breaker: CircuitBreaker::new(address, probe(Weak::clone(node))),
        })
    }

    pub(crate) fn address(&self) -> &Arc<str> {
        self.breaker.address()
    }

    pub(crate) async fn connection(&self) -> Result<ConnectionHandle, StoreError> {
        let connection = self.pool.get().await;
        connection.map_err(|error| StoreError::before_sending(self.address(), error))
    }
}
