//! Whom to trust, and the address that follows from it.

use std::net::{IpAddr, Ipv6Addr};

use http::Request;

use super::{forwarded::ForwardingHeader, networks::Networks, peer};
use crate::{
    extract::{KeyError, KeyExtractor},
    invalid::{self, Invalid},
    key::Key,
};

/// The client's address: `ip:192.0.2.1`, or the network of an IPv6 address: `ip:[2001:db8:1:2::]/64`.
///
/// Behind a proxy, the socket's peer is the proxy, and every client would be counted as one: name the proxies with
/// [`behind`](Self::behind), or count them with [`hops`](Self::hops). **Trust only what really is a proxy of yours**: whoever
/// is trusted can name any address. [The guide](crate::guide::behind_proxies) goes through what is believed of whom.
///
/// # The peer's address
/// With axum, serve the router with `.into_make_service_with_connect_info::<SocketAddr>()`; in tests, add
/// `MockConnectInfo(address)` as a layer. Elsewhere, put a [`SocketAddr`](std::net::SocketAddr) into the request's extensions,
/// or [`Unaddressed`](super::Unaddressed) where there is none. A request that has to be counted by its peer and has neither is
/// answered with an error (500) that says so.
///
/// ```
/// use tollgate::ClientIp;
///
/// let direct = ClientIp::peer();
/// let behind_our_balancers = ClientIp::behind(["10.0.0.0/8", "fd00::/8"]);
/// let behind_a_cdn_and_a_balancer = ClientIp::hops(2).forwarded();
/// # let _ = (direct, behind_our_balancers, behind_a_cdn_and_a_balancer);
/// ```
#[derive(Clone, Debug)]
pub struct ClientIp {
    pub(super) trust: Trust,
    pub(super) header: ForwardingHeader,
    ipv6_prefix: u8,
}

#[derive(Clone, Debug)]
pub(super) enum Trust {
    Nobody,
    Networks(Networks),
    Hops(usize),
}

/// Whose address it is.
pub(super) enum Whose {
    Client(IpAddr),
    /// Of whoever stands before a client that cannot be told: it did not come the way it should have, or hides.
    Proxy(IpAddr),
}

impl ClientIp {
    /// The socket's peer. Nothing in the request can change it.
    pub fn peer() -> Self {
        Self::trusting(Trust::Nobody)
    }

    /// The client in front of trusted proxies, given as networks like `10.0.0.0/8` or single addresses.
    ///
    /// A request that does not come from one of them is counted by its peer.
    ///
    /// # Panics
    /// When one is neither a network nor an address.
    #[track_caller]
    pub fn behind<N: AsRef<str>>(proxies: impl IntoIterator<Item = N>) -> Self {
        invalid::expect(Self::try_behind(proxies))
    }

    /// The client in front of trusted proxies, or an error when one is neither a network nor an address.
    pub fn try_behind<N: AsRef<str>>(proxies: impl IntoIterator<Item = N>) -> Result<Self, Invalid> {
        Ok(Self::trusting(Trust::Networks(Networks::parse("proxies", proxies)?)))
    }

    /// The client in front of so many proxies, whatever their addresses: with 1, whom the last proxy saw.
    ///
    /// For where every request passes through that many, and nobody can reach the service otherwise. A request that
    /// passed through fewer is counted by its peer.
    pub fn hops(proxies: usize) -> Self {
        Self::trusting(Trust::Hops(proxies))
    }

    /// Reads `Forwarded` (RFC 7239) in place of `X-Forwarded-For`. Only one is ever read: a proxy that sets the one lets
    /// through what clients wrote into the other.
    #[must_use]
    pub fn forwarded(self) -> Self {
        let header = ForwardingHeader::Forwarded;
        Self { header, ..self }
    }

    /// How many leading bits of an IPv6 address count as one client; 64 unless told otherwise, since that is what the
    /// smallest customer is given.
    ///
    /// # Panics
    /// Where [`try_ipv6_prefix`](Self::try_ipv6_prefix) returns an error.
    #[must_use]
    #[track_caller]
    pub fn ipv6_prefix(self, bits: u8) -> Self {
        invalid::expect(self.try_ipv6_prefix(bits))
    }

    /// How many leading bits of an IPv6 address count as one client, from 1 to 128.
    pub fn try_ipv6_prefix(self, bits: u8) -> Result<Self, Invalid> {
        match bits {
            1..=128 => Ok(Self {
                ipv6_prefix: bits,
                ..self
            }),
            _ => Err(Invalid::new("ipv6_prefix", bits, "be from 1 to 128")),
        }
    }

    fn trusting(trust: Trust) -> Self {
        Self {
            trust,
            header: ForwardingHeader::XForwardedFor,
            ipv6_prefix: 64,
        }
    }

    /// The client's address, or that of the last one who can be believed.
    pub(super) fn address<B>(&self, request: &Request<B>) -> Result<Whose, KeyError> {
        let peer = || peer::address(request);
        // From the nearest hop to the farthest; a hop that does not parse ends what can be believed.
        let hops = || self.header.hops(request.headers());
        Ok(match &self.trust {
            Trust::Nobody | Trust::Hops(0) => Whose::Client(peer()?),
            Trust::Hops(proxies) => match hops().map_while(|hop| hop).nth(proxies - 1) {
                Some(client) => Whose::Client(client),
                None => Whose::Proxy(peer()?),
            },
            Trust::Networks(networks) => {
                let (mut client, mut hops) = (peer()?, hops());
                while networks.contain(&client)
                    && let Some(hop) = hops.next()
                {
                    client = match hop {
                        Some(hop) => hop,
                        None => return Ok(Whose::Proxy(client)),
                    };
                }
                Whose::Client(client)
            }
        })
    }

    /// The key of the client at this address.
    pub(crate) fn key(&self, address: IpAddr) -> Key {
        match address {
            IpAddr::V4(address) => Key::ipv4(address),
            IpAddr::V6(address) if self.ipv6_prefix == 128 => Key::verbatim(format!("ip:[{address}]")),
            IpAddr::V6(address) => {
                let kept = u128::MAX << (128 - self.ipv6_prefix);
                let network = Ipv6Addr::from_bits(address.to_bits() & kept);
                Key::verbatim(format!("ip:[{network}]/{}", self.ipv6_prefix))
            }
        }
    }
}

impl<B> KeyExtractor<Request<B>> for ClientIp {
    fn extract(&self, request: &Request<B>) -> Result<Option<Key>, KeyError> {
        let (Whose::Client(address) | Whose::Proxy(address)) = self.address(request)?;
        Ok(Some(self.key(address)))
    }
}
