//! Who was at the other end of the socket.

use std::net::{IpAddr, SocketAddr};

use http::Extensions;
use tollgate::KeyError;

/// The port is nobody's business.
pub(crate) fn set(extensions: &mut Extensions, address: Option<IpAddr>) {
    let Some(address) = address else {
        extensions.remove::<SocketAddr>();
        return;
    };
    match extensions.get_mut::<SocketAddr>() {
        Some(peer) => peer.set_ip(address),
        None => drop(extensions.insert(SocketAddr::new(address, 0))),
    }
}

/// Why a request is charged to nobody. How a service would provide an address is no help here.
pub(crate) fn told(error: &KeyError) -> String {
    match error {
        KeyError::NotProvided { what, .. } => format!("the request lacks a {what}"),
        error => error.to_string(),
    }
}
