//! On what terms connections are made: as whom, how safely, how patiently, and how many.

use std::time::Duration;

use deadpool_redis::{
    Manager, Pool, Runtime,
    redis::{AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, RedisError},
};

#[derive(Clone)]
pub(crate) struct Terms {
    /// What is said to every Redis. Where it is may differ.
    pub(crate) info: ConnectionInfo,
    /// How long a connection may take to be made. Requests wait no longer than their deadline for it.
    pub(crate) patience: Duration,
    /// How many connections to share.
    pub(crate) lanes: usize,
}

impl Terms {
    fn config(&self) -> AsyncConnectionConfig {
        // Calls have deadlines of their own.
        AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.patience))
            .set_response_timeout(None)
    }

    /// The same terms for another Redis.
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
        Self { info, ..*self }
    }

    pub(crate) fn address(&self) -> String {
        self.info.addr().to_string()
    }

    pub(crate) fn pool(&self) -> Result<Pool, RedisError> {
        let manager = Manager::new_with_config(self.info.clone(), self.config())?;
        let pool = Pool::builder(manager).max_size(self.lanes).runtime(Runtime::Tokio1);
        Ok(pool
            .build()
            .expect("a pool without timeouts needs nothing that could be missing"))
    }

    /// A connection for one question, which no pool knows.
    pub(crate) async fn connect(&self) -> Result<deadpool_redis::redis::aio::MultiplexedConnection, RedisError> {
        let client = Client::open(self.info.clone())?;
        client
            .get_multiplexed_async_connection_with_config(&self.config())
            .await
    }
}
