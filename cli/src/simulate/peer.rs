//! Who was at the other end of the socket.

use std::net::{IpAddr, SocketAddr};

use http::Extensions;
use tollgate::extract::Unaddressed;

/// The port is nobody's business.
pub(crate) fn set(extensions: &mut Extensions, address: Option<IpAddr>) {
    let Some(address) = address else {
        extensions.remove::<SocketAddr>();
        extensions.insert(Unaddressed);
        return;
    };
    match extensions.get_mut::<SocketAddr>() {
        Some(peer) => peer.set_ip(address),
        None => drop(extensions.insert(SocketAddr::new(address, 0))),
    }
}
