//! Who is told to be the client of a request.

use std::{
    net::{IpAddr, SocketAddr},
    sync::LazyLock,
};

use http::{HeaderName, HeaderValue, Request, header::FORWARDED};
use tollgate::{ClientIp, KeyExtractor, Matcher, extract::Within};

/// Who is trusted.
pub(super) const PROXIES: [&str; 3] = ["10.0.0.0/8", "192.0.2.7", "fd00::/8"];

const EVERYBODY: [&str; 2] = ["0.0.0.0/0", "::/0"];

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whose address is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Told {
    Client(IpAddr),
    /// Of whoever stands before a client that cannot be told.
    Proxy(IpAddr),
}

impl Told {
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

/// Whether proxies have this address.
pub(super) fn is_trusted(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.octets()[0] == 10 || address.octets() == [192, 0, 2, 7],
        IpAddr::V6(address) => address.octets()[0] == 0xfd,
    }
}

/// How many proxies are counted at the most.
pub(super) const HOPS: usize = 12;

/// The ways to ask, by one header.
pub(super) struct Asked {
    behind: (ClientIp, Within),
    hops: [(ClientIp, Within); HOPS],
}

/// By X-Forwarded-For, and by Forwarded.
static WAYS: LazyLock<[Asked; 2]> = LazyLock::new(|| [false, true].map(Asked::new));

impl Asked {
    pub(super) fn by(forwarded: bool) -> &'static Self {
        &WAYS[usize::from(forwarded)]
    }

    fn new(forwarded: bool) -> Self {
        let reading = |ip: ClientIp| whole(if forwarded { ip.forwarded() } else { ip });
        Self {
            behind: reading(ClientIp::behind(PROXIES)),
            hops: std::array::from_fn(|hops| reading(ClientIp::hops(hops))),
        }
    }

    /// The client in front of those who are trusted.
    pub(super) fn behind(&self, request: &Request<()>) -> Told {
        told(&self.behind, request)
    }

    /// The client in front of so many proxies.
    pub(super) fn hops(&self, hops: usize, request: &Request<()>) -> Told {
        told(&self.hops[hops], request)
    }
}

/// By every bit of an address, and whether it is known to be the client's.
fn whole(ip: ClientIp) -> (ClientIp, Within) {
    let ip = ip.ipv6_prefix(128);
    (ip.clone(), ip.within(EVERYBODY))
}

fn told((ip, everybody): &(ClientIp, Within), request: &Request<()>) -> Told {
    let key = ip.extract(request).expect("it has an address");
    let key = key.expect("everybody is counted by an address");
    let address = key.as_str().strip_prefix("ip:").expect("it is an address");
    let within = address.strip_prefix('[').and_then(|address| address.strip_suffix(']'));
    let address: IpAddr = within.unwrap_or(address).parse().expect("it is an address");
    assert_eq!(within.is_some(), address.is_ipv6());
    // IPv4 in IPv6's clothing is counted as what it is.
    assert_eq!(address, address.to_canonical());
    match everybody.matches(request) {
        Ok(is_anybody) => {
            assert!(is_anybody);
            Told::Client(address)
        }
        Err(_) => Told::Proxy(address),
    }
}

/// A request from this address, with these lines of the header.
pub(super) fn from(peer: &str, forwarded: bool, lines: &[HeaderValue]) -> Request<()> {
    let mut request = Request::new(());
    let header = if forwarded { FORWARDED } else { X_FORWARDED_FOR };
    for line in lines {
        request.headers_mut().append(&header, line.clone());
    }
    moved(request, peer)
}

/// The same request, from another address.
pub(super) fn moved(mut request: Request<()>, peer: &str) -> Request<()> {
    let peer = SocketAddr::new(peer.parse().expect("an address"), 4711);
    request.extensions_mut().insert(peer);
    request
}
