//! Reserves a port of 127.0.0.1 that no other process uses and this process has not used before.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, SocketAddr},
    sync::Mutex,
};

use tokio::net::TcpSocket;

/// All ports that were ever reserved. Logs and metrics contain addresses, so a reused port would mix up two servers.
static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A reserved port. The socket is bound but does not listen, so connections get ECONNREFUSED until a server is started there.
pub struct Port(TcpSocket);

impl Port {
    pub fn free() -> Self {
        loop {
            let port = Self::take(0).unwrap();
            if port.is_new() {
                return port;
            }
        }
    }

    /// Two free ports with this offset between them, as a cluster node needs them.
    pub fn free_with(offset: u16) -> [Self; 2] {
        loop {
            let port = Self::free();
            let other = port.number().checked_add(offset).and_then(Self::take);
            if let Some(other) = other.filter(Self::is_new) {
                return [port, other];
            }
        }
    }

    pub fn number(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    fn take(number: u16) -> Option<Self> {
        let socket = TcpSocket::new_v4().unwrap();
        // SO_REUSEADDR is set after the bind: the bind fails on a used port, and a server with SO_REUSEADDR can bind later.
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, number))).ok()?;
        socket.set_reuseaddr(true).unwrap();
        Some(Self(socket))
    }

    fn is_new(&self) -> bool {
        TAKEN.lock().unwrap().insert(self.number())
    }
}
