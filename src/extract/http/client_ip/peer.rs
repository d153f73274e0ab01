//! The peer address of a request.

use std::net::{IpAddr, SocketAddr};

#[cfg(feature = "axum")]
use axum::extract::{ConnectInfo, connect_info::MockConnectInfo};
use http::{Extensions, Request};

use crate::extract::KeyError;

/// Request extension that marks a request without a peer address, such as one from a Unix socket or a recording.
///
/// A request with neither this extension nor an address is an error of the service (500). With it, the address is
/// [missing](KeyError::Missing), like a missing header, and a default key applies.
///
/// ```
/// use http::Request;
/// use tollgate::{ClientIp, KeyExtractor, extract::NoPeerAddr};
///
/// let request = Request::builder().extension(NoPeerAddr).body(())?;
/// let client = ClientIp::peer().or("local");
/// assert_eq!(client.extract(&request)?.as_str(), "~local");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoPeerAddr;

/// The peer's address. An IPv4-mapped IPv6 address is converted to IPv4.
pub(super) fn address<B>(request: &Request<B>) -> Result<IpAddr, KeyError> {
    let extensions = request.extensions();
    match axum_peer(extensions).or_else(|| extensions.get()) {
        Some(peer) => Ok(peer.ip().to_canonical()),
        None if extensions.get::<NoPeerAddr>().is_some() => Err(KeyError::missing("a peer address")),
        None => Err(KeyError::not_provided(
            "peer address",
            "serve the router with .into_make_service_with_connect_info::<SocketAddr>(), in tests add the layer \
             MockConnectInfo(address), or insert a SocketAddr into the request's extensions",
        )),
    }
}

/// The peer's address, or `None` for a request that is marked with [`NoPeerAddr`].
#[cfg(feature = "rules")]
pub(super) fn optional_address<B>(request: &Request<B>) -> Result<Option<IpAddr>, KeyError> {
    match address(request) {
        Err(KeyError::Missing { .. }) => Ok(None),
        address => address.map(Some),
    }
}

#[cfg(feature = "axum")]
fn axum_peer(extensions: &Extensions) -> Option<&SocketAddr> {
    let real = extensions.get().map(|ConnectInfo(peer)| peer);
    real.or_else(|| extensions.get().map(|MockConnectInfo(peer)| peer))
}

#[cfg(not(feature = "axum"))]
fn axum_peer(_: &Extensions) -> Option<&SocketAddr> {
    None
}
