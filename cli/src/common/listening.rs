//! Listens where it was told to, or says what to do about it if that is not possible.

use std::{io, net::SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// How many may come at once. The system asks those who come on top of that to come again in a second.
const BACKLOG: u32 = 4096;

pub(crate) fn listen(at: SocketAddr, option: &str) -> Result<(TcpListener, SocketAddr), String> {
    let bound = bind(at).and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("cannot listen at {at}, which is in use: choose another with {option} ADDR")
        }
        _ => format!("cannot listen at {at}: {error}: choose another with {option} ADDR"),
    })
}

fn bind(at: SocketAddr) -> io::Result<TcpListener> {
    let socket = if at.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // Whoever is started again need not wait until the connections of the one before are forgotten.
    socket.set_reuseaddr(cfg!(unix))?;
    socket.bind(at)?;
    socket.listen(BACKLOG)
}
