//! Where to listen, as an option's value says it, or what is wrong with that: that follows the option's name and the value.

use std::{
    fmt::Display,
    net::{Ipv4Addr, SocketAddr, ToSocketAddrs},
};

/// A port alone is one that only this machine can reach.
pub(crate) fn address(given: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = given.strip_prefix(':').unwrap_or(given).parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let unknown = |why: &dyn Display| format!("give an address, like 127.0.0.1:8080, or a port ({why})");
    let mut addresses = given.to_socket_addrs().map_err(|error| unknown(&error))?;
    addresses.next().ok_or_else(|| unknown(&"nobody has this name"))
}
