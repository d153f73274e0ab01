//! Connection settings: credentials, TLS, the connect timeout and the number of connections.

use std::{sync::Arc, time::Duration};

use deadpool_redis::{
    Manager, Pool, Runtime,
    redis::{AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, RedisError},
};

use super::reconnects::Reconnects;

#[derive(Clone)]
pub(crate) struct ConnectionConfig {
    /// The settings for every node, which differ only in the address.
    pub(crate) info: ConnectionInfo,
    /// The connect timeout. Requests wait for a connection no longer than their deadline.
    pub(crate) connect_timeout: Duration,
    /// The number of connections.
    pub(crate) pool_size: usize,
    pub(crate) reconnects: Arc<Reconnects>,
}

impl ConnectionConfig {
    fn config(&self) -> AsyncConnectionConfig {
        // Calls have their own deadlines.
        AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.connect_timeout))
            .set_response_timeout(None)
    }

    /// The same settings for another address.
    pub(crate) fn at(&self, host: &str, port: u16) -> Self {
        let address = match self.info.addr().clone() {
            ConnectionAddr::TcpTls {
                insecure, tls_params, ..
            } => ConnectionAddr::TcpTls {
                host: host.into(),
                port,
                insecure,
                tls_params,
            },
            _ => ConnectionAddr::Tcp(host.into(), port),
        };
        let info = self.info.clone().set_addr(address);
        Self { info, ..self.clone() }
    }

    pub(crate) fn address(&self) -> String {
        self.info.addr().to_string()
    }

    pub(crate) fn pool(&self) -> Result<Pool, RedisError> {
        let manager = Manager::new_with_config(self.info.clone(), self.config())?;
        // Each connection twice: a runtime that stands still may keep one that another runtime has to make again.
        let pool = Pool::builder(manager)
            .max_size(2 * self.pool_size)
            .runtime(Runtime::Tokio1);
        Ok(pool.build().expect("a pool without timeouts can always be built"))
    }

    /// A connection outside of the pool, for one query.
    pub(crate) async fn connect(&self) -> Result<deadpool_redis::redis::aio::MultiplexedConnection, RedisError> {
        let client = Client::open(self.info.clone())?;
        client
            .get_multiplexed_async_connection_with_config(&self.config())
            .await
    }
}
