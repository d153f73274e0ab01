//! Listen addresses of command-line options, and sockets bound to them.

use std::{
    fmt::Display,
    io,
    net::{Ipv4Addr, SocketAddr, ToSocketAddrs},
};

use tokio::net::{TcpListener, TcpSocket};

/// Pending connections of a listening socket. Beyond these the kernel drops the SYN, which the client repeats after a second.
const BACKLOG: u32 = 4096;

/// Parses the value of an option. A bare port is on the loopback interface. Clap prefixes errors with the option and the value.
pub(crate) fn parse_address(value: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = value.strip_prefix(':').unwrap_or(value).parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let invalid = |reason: &dyn Display| format!("expected an address, like 127.0.0.1:8080, or a port ({reason})");
    let mut addresses = value.to_socket_addrs().map_err(|error| invalid(&error))?;
    addresses.next().ok_or_else(|| invalid(&"the host name has no address"))
}

/// Binds a listening socket. Errors name the option that sets the address.
pub(crate) fn bind(address: SocketAddr, option: &str) -> Result<(TcpListener, SocketAddr), String> {
    let bound = try_bind(address).and_then(|listener| listener.local_addr().map(|address| (listener, address)));
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("cannot listen on {address}: the address is in use; choose another with {option} ADDR")
        }
        _ => format!("cannot listen on {address}: {error}; choose another with {option} ADDR"),
    })
}

fn try_bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // A restarted process must not wait until the connections of its predecessor leave TIME_WAIT.
    socket.set_reuseaddr(cfg!(unix))?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
