//! A Redis, or a node of a cluster, behind a proxy.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpStream},
    time::Duration,
};

use crate::support::{
    folder::Folder,
    port::Port,
    proxy::Proxy,
    redis::{RedisServer, keys, query},
};

pub(crate) struct Node {
    pub(crate) server: RedisServer,
    /// The processes connect to it, so that it can inject network faults.
    pub(crate) proxy: Proxy,
    /// The stall detector connects to it: injected latency is no stall.
    ping_proxy: Proxy,
    /// Kept for a node of a cluster: its bus port, and the folder of its configuration.
    _cluster: Option<(Port, Folder)>,
}

impl Node {
    pub(crate) fn standalone() -> Self {
        let port = Port::free();
        let proxy = Proxy::to(port.number());
        Self::start(port, proxy, &[], None)
    }

    /// Starts a server at the port that the proxy forwards to.
    pub(crate) fn start(port: Port, proxy: Proxy, settings: &[&str], cluster: Option<(Port, Folder)>) -> Self {
        Self {
            ping_proxy: Proxy::to(port.number()),
            server: RedisServer::start_at(port, settings),
            proxy,
            _cluster: cluster,
        }
    }

    /// The address of the proxy, which the processes connect to.
    pub(crate) fn url(&self) -> String {
        self.proxy.url()
    }

    /// A function that pings Redis on one connection, and reconnects after an error.
    pub(crate) fn pinger(&self) -> impl FnMut() + Send + 'static {
        let address = (Ipv4Addr::LOCALHOST, self.ping_proxy.port());
        let mut connection: Option<TcpStream> = None;
        move || {
            connection = connection.take().or_else(|| TcpStream::connect(address).ok());
            connection.take_if(|connection| ping(connection).is_err());
        }
    }

    /// The number of connections to Redis, the pinger's included.
    pub(crate) fn connections(&self) -> usize {
        self.proxy.open_connections() + self.ping_proxy.open_connections()
    }

    /// The number of keys, and the keys without a time-to-live.
    pub(crate) fn keys(&self) -> (usize, Vec<String>) {
        let redis = &mut self.server.client();
        let keys = keys(redis);
        let all = keys.len();
        let is_persistent = |key: &String| query::<i64>(redis, &format!("PTTL {key}")) == -1;
        (all, keys.into_iter().filter(is_persistent).collect())
    }
}

fn ping(connection: &mut TcpStream) -> io::Result<()> {
    // A frozen Redis does not reply.
    connection.set_read_timeout(Some(Duration::from_secs(1)))?;
    connection.write_all(b"PING\r\n")?;
    connection.read_exact(&mut [0; b"+PONG\r\n".len()])
}
