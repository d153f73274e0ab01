//! Who is at the other end of the socket.

use std::net::{IpAddr, SocketAddr};

#[cfg(feature = "axum")]
use axum::extract::{ConnectInfo, connect_info::MockConnectInfo};
use http::{Extensions, Request};

use crate::extract::KeyError;

/// Says of a request, in its extensions, that it has no address, since it came over a Unix socket or from a recording.
///
/// A request without it and without an address is an error of the service (500): nobody said who its peer is. With it, the
/// request lacks an address as others lack a header, and what stands in for that takes its place.
///
/// ```
/// use http::Request;
/// use tollgate::{ClientIp, KeyExtractor, Or, extract::Unaddressed};
///
/// let request = Request::builder().extension(Unaddressed).body(())?;
/// let client = Or::new(ClientIp::peer(), "local");
/// assert_eq!(client.extract(&request)?.unwrap().as_str(), "~local");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unaddressed;

/// The peer's address. An IPv4 address that came through an IPv6 socket is an IPv4 address.
pub(super) fn address<B>(request: &Request<B>) -> Result<IpAddr, KeyError> {
    let extensions = request.extensions();
    match of_axum(extensions).or_else(|| extensions.get().copied()) {
        Some(peer) => Ok(peer.ip().to_canonical()),
        None if extensions.get::<Unaddressed>().is_some() => Err(KeyError::missing("a peer address")),
        None => Err(KeyError::not_provided(
            "peer address",
            "serve the router with .into_make_service_with_connect_info::<SocketAddr>(), in tests add the layer \
             MockConnectInfo(address), or insert a SocketAddr into the request's extensions",
        )),
    }
}

/// The same, of a request that may be said to have none.
#[cfg(feature = "rules")]
pub(super) fn known<B>(request: &Request<B>) -> Result<Option<IpAddr>, KeyError> {
    match address(request) {
        Err(KeyError::Missing { .. }) => Ok(None),
        address => address.map(Some),
    }
}

#[cfg(feature = "axum")]
fn of_axum(extensions: &Extensions) -> Option<SocketAddr> {
    let real = extensions.get().map(|ConnectInfo(peer)| *peer);
    real.or_else(|| extensions.get().map(|MockConnectInfo(peer)| *peer))
}

#[cfg(not(feature = "axum"))]
fn of_axum(_: &Extensions) -> Option<SocketAddr> {
    None
}
