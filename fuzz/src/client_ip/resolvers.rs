//! `ClientIp` in all of its configurations, and the address that it resolves.

use std::{
    net::{IpAddr, SocketAddr},
    sync::LazyLock,
};

use http::{HeaderName, HeaderValue, Request, header::FORWARDED};
use tollgate::{ClientIp, KeyExtractor, Matcher, extract::InNetworks};

/// The networks of trusted proxies.
pub(super) const TRUSTED: [&str; 3] = ["10.0.0.0/8", "192.0.2.7", "fd00::/8"];

const ALL_NETWORKS: [&str; 2] = ["0.0.0.0/0", "::/0"];

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address that a request is counted by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Resolved {
    Client(IpAddr),
    /// The last known hop, since the client's address is unknown.
    Proxy(IpAddr),
}

impl Resolved {
    pub(super) fn address(self) -> IpAddr {
        let (Self::Client(address) | Self::Proxy(address)) = self;
        address
    }

    pub(super) fn client(self) -> Option<IpAddr> {
        match self {
            Self::Client(address) => Some(address),
            Self::Proxy(_) => None,
        }
    }
}

/// Whether an address is in [`TRUSTED`].
pub(super) fn is_trusted(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[0] == 10 || address.octets() == [192, 0, 2, 7],
        IpAddr::V6(address) => address.octets()[0] == 0xfd,
    }
}

/// Resolvers exist for fewer trusted hops than this.
pub(super) const MAX_HOPS: usize = 12;

/// The resolvers for one header.
pub(super) struct Resolvers {
    by_proxies: (ClientIp, InNetworks),
    by_hops: [(ClientIp, InNetworks); MAX_HOPS],
}

/// For X-Forwarded-For, and for Forwarded.
static RESOLVERS: LazyLock<[Resolvers; 2]> = LazyLock::new(|| [false, true].map(Resolvers::new));

impl Resolvers {
    pub(super) fn get(forwarded: bool) -> &'static Self {
        &RESOLVERS[usize::from(forwarded)]
    }

    fn new(forwarded: bool) -> Self {
        let for_header = |ip: ClientIp| with_matcher(if forwarded { ip.forwarded() } else { ip });
        Self {
            by_proxies: for_header(ClientIp::trusted_proxies(TRUSTED)),
            by_hops: std::array::from_fn(|hops| for_header(ClientIp::trusted_hops(hops))),
        }
    }

    /// The client, with the proxies trusted by network.
    pub(super) fn by_proxies(&self, request: &Request<()>) -> Resolved {
        resolve(&self.by_proxies, request)
    }

    /// The client, with the proxies trusted by number.
    pub(super) fn by_hops(&self, hops: usize, request: &Request<()>) -> Resolved {
        resolve(&self.by_hops[hops], request)
    }
}

/// The extractor for whole addresses, and a matcher that fails where the client is unknown.
fn with_matcher(ip: ClientIp) -> (ClientIp, InNetworks) {
    let ip = ip.ipv6_prefix(128);
    (ip.clone(), ip.in_networks(ALL_NETWORKS))
}

fn resolve((ip, all_networks): &(ClientIp, InNetworks), request: &Request<()>) -> Resolved {
    let key = ip.extract(request).expect("the request has an address");
    let address = key.as_str().strip_prefix("ip:").expect("the key has the label `ip`");
    let bracketed = address.strip_prefix('[').and_then(|address| address.strip_suffix(']'));
    let address: IpAddr = bracketed
        .unwrap_or(address)
        .parse()
        .expect("the key contains an address");
    assert_eq!(bracketed.is_some(), address.is_ipv6());
    // An IPv4-mapped IPv6 address is counted as IPv4.
    assert_eq!(address, address.to_canonical());
    match all_networks.matches(request) {
        Ok(matches) => {
            assert!(matches);
            Resolved::Client(address)
        }
        Err(_) => Resolved::Proxy(address),
    }
}

/// A request from this peer, with these lines of the header.
pub(super) fn request_from(peer: &str, forwarded: bool, lines: &[HeaderValue]) -> Request<()> {
    let mut request = Request::new(());
    let header = if forwarded { FORWARDED } else { X_FORWARDED_FOR };
    for line in lines {
        request.headers_mut().append(&header, line.clone());
    }
    with_peer(request, peer)
}

/// The same request, from another peer.
pub(super) fn with_peer(mut request: Request<()>, peer: &str) -> Request<()> {
    let peer = SocketAddr::new(peer.parse().expect("an address"), 4711);
    request.extensions_mut().insert(peer);
    request
}
