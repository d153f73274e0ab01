//! The extractor of the client's address.

use std::net::{IpAddr, Ipv6Addr};

#[cfg(feature = "rules")]
use http::HeaderName;
use http::Request;

use super::{forwarded::ForwardingHeader, networks::Networks, peer};
use crate::{
    config_error::{self, ConfigError},
    extract::{KeyError, KeyExtractor, Optional, Or},
    key::Key,
};

/// The client's address: `ip:192.0.2.1`, or the network of an IPv6 address: `ip:[2001:db8:1:2::]/64`.
///
/// Behind a proxy, the socket's peer is the proxy, so all clients would share one key: configure the proxies' addresses with
/// [`trusted_proxies`](Self::trusted_proxies), or their number with [`trusted_hops`](Self::trusted_hops). **Trust only your own
/// proxies**: a trusted host can forge any address. See [the guide](crate::guide::behind_proxies).
///
/// # The peer's address
/// With axum, serve the router with `.into_make_service_with_connect_info::<SocketAddr>()`; in tests, add
/// `MockConnectInfo(address)` as a layer. Otherwise, insert a [`SocketAddr`](std::net::SocketAddr) into the request's extensions,
/// or [`NoPeerAddr`](super::NoPeerAddr) if there is none. A request that needs its peer's address and has neither is rejected
/// with 500 and a message about the missing address.
///
/// ```
/// use tollgate::ClientIp;
///
/// let direct = ClientIp::peer();
/// let behind_our_balancers = ClientIp::trusted_proxies(["10.0.0.0/8", "fd00::/8"]);
/// let behind_a_cdn_and_a_balancer = ClientIp::trusted_hops(2).forwarded();
/// # let _ = (direct, behind_our_balancers, behind_a_cdn_and_a_balancer);
/// ```
#[derive(Clone, Debug)]
pub struct ClientIp {
    trust: Trust,
    header: ForwardingHeader,
    ipv6_prefix: u8,
}

#[derive(Clone, Debug)]
enum Trust {
    None,
    Networks(Networks),
    Hops(usize),
}

/// An address, and what it belongs to.
pub(super) enum Resolved {
    Client(IpAddr),
    /// The last trusted proxy, if the client's address is unknown: there were too few hops, or the proxy recorded no address.
    Proxy(IpAddr),
}

impl ClientIp {
    /// The socket's peer, which nothing in the request can change.
    pub fn peer() -> Self {
        Self::trusting(Trust::None)
    }

    /// The client in front of trusted proxies, given as networks like `10.0.0.0/8` or single addresses.
    ///
    /// A request from any other peer is counted by the peer's address.
    ///
    /// # Panics
    /// If one is neither a network nor an address.
    #[track_caller]
    pub fn trusted_proxies<N: AsRef<str>>(proxies: impl IntoIterator<Item = N>) -> Self {
        config_error::expect(Self::try_trusted_proxies(proxies))
    }

    /// The client in front of trusted proxies, or an error if one is neither a network nor an address.
    pub fn try_trusted_proxies<N: AsRef<str>>(proxies: impl IntoIterator<Item = N>) -> Result<Self, ConfigError> {
        Ok(Self::trusting(Trust::Networks(Networks::parse("proxies", proxies)?)))
    }

    /// The client in front of this number of proxies, at any address: with 1, the peer of the last proxy.
    ///
    /// Use it if every request passes through that many proxies and clients cannot reach the service directly. A request that
    /// passed through fewer is counted by its peer's address.
    pub fn trusted_hops(proxies: usize) -> Self {
        Self::trusting(Trust::Hops(proxies))
    }

    /// Reads `Forwarded` (RFC 7239) instead of `X-Forwarded-For`. Only one of them is read, because a proxy that sets one passes
    /// the other on as the client sent it.
    #[must_use]
    pub fn forwarded(self) -> Self {
        let header = ForwardingHeader::Forwarded;
        Self { header, ..self }
    }

    /// Sets the length in bits of the IPv6 prefix that counts as one client. The default is 64, the smallest network that
    /// providers assign to a customer.
    ///
    /// # Panics
    /// If [`try_ipv6_prefix`](Self::try_ipv6_prefix) returns an error.
    #[must_use]
    #[track_caller]
    pub fn ipv6_prefix(self, bits: u8) -> Self {
        config_error::expect(self.try_ipv6_prefix(bits))
    }

    /// Sets the length of the IPv6 prefix that counts as one client, from 1 to 128 bits.
    pub fn try_ipv6_prefix(self, bits: u8) -> Result<Self, ConfigError> {
        match bits {
            1..=128 => Ok(Self {
                ipv6_prefix: bits,
                ..self
            }),
            _ => Err(ConfigError::new("ipv6_prefix", bits, "be from 1 to 128")),
        }
    }

    fn trusting(trust: Trust) -> Self {
        Self {
            trust,
            header: ForwardingHeader::XForwardedFor,
            ipv6_prefix: 64,
        }
    }

    /// The client's address, or that of the last trusted proxy.
    pub(super) fn address<B>(&self, request: &Request<B>) -> Result<Resolved, KeyError> {
        let peer = || peer::address(request);
        // From the nearest hop to the farthest. Hops beyond one that is not an address cannot be trusted.
        let hops = || self.header.hops(request.headers());
        Ok(match &self.trust {
            Trust::None | Trust::Hops(0) => Resolved::Client(peer()?),
            Trust::Hops(proxies) => match hops().map_while(|hop| hop).nth(proxies - 1) {
                Some(client) => Resolved::Client(client),
                None => Resolved::Proxy(peer()?),
            },
            Trust::Networks(networks) => {
                let (mut client, mut hops) = (peer()?, hops());
                while networks.contains(&client)
                    && let Some(hop) = hops.next()
                {
                    client = match hop {
                        Some(hop) => hop,
                        None => return Ok(Resolved::Proxy(client)),
                    };
                }
                Resolved::Client(client)
            }
        })
    }

    /// Sets the default for requests that are marked as being without an address ([`NoPeerAddr`](crate::extract::NoPeerAddr)): a string,
    /// or another key extractor.
    pub fn or<K>(self, default: K) -> Or<Self, K> {
        Or::new(self, default)
    }

    /// Lets requests that are marked as being without an address pass: this tier does not count them.
    pub fn optional(self) -> Optional<Self> {
        Optional::new(self)
    }

    /// The key of the client at this address.
    #[inline]
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
    fn extract(&self, request: &Request<B>) -> Result<Key, KeyError> {
        let (Resolved::Client(address) | Resolved::Proxy(address)) = self.address(request)?;
        Ok(self.key(address))
    }
}

/// The trusted proxies, for rules files.
#[cfg(feature = "rules")]
impl ClientIp {
    /// Whether this is the address of a trusted proxy.
    pub(crate) fn trusts(&self, peer: IpAddr) -> bool {
        match &self.trust {
            Trust::None | Trust::Hops(_) => false,
            Trust::Networks(networks) => networks.contains(&peer.to_canonical()),
        }
    }

    /// Whether the peer of a request is a trusted proxy.
    pub(crate) fn is_from_trusted_proxy<B>(&self, request: &Request<B>) -> Result<bool, KeyError> {
        match &self.trust {
            Trust::None | Trust::Hops(_) => Ok(false),
            Trust::Networks(_) => Ok(peer::optional_address(request)?.is_some_and(|peer| self.trusts(peer))),
        }
    }

    /// The header that trusted proxies write a client's address to.
    pub(crate) fn forwarding_header(&self) -> HeaderName {
        self.header.name()
    }
}
