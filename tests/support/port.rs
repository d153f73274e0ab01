//! A port of 127.0.0.1 that is nobody else's, whether or not somebody listens at it, and never was in this process.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, SocketAddr},
    sync::Mutex,
};

use tokio::net::TcpSocket;

/// All that were ever taken. A process logs and measures by address, and what it says of a server must not be taken for
/// what it said of an earlier one at the same port.
static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// Held by a socket that is bound and does not listen: whoever connects is refused, until a server is started there.
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

    /// One that is as free as the one this much above it, as the nodes of a cluster need them.
    pub fn free_with(above: u16) -> [Self; 2] {
        loop {
            let port = Self::free();
            let other = port.number().checked_add(above).and_then(Self::take);
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
        // Taken as nobody else's, and only then shared with whoever says that he shares it, as servers do.
        socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, number))).ok()?;
        socket.set_reuseaddr(true).unwrap();
        Some(Self(socket))
    }

    fn is_new(&self) -> bool {
        TAKEN.lock().unwrap().insert(self.number())
    }
}
