//! What proxies wrote about whom they saw.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName, header::FORWARDED};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The one header that is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum ForwardingHeader {
    XForwardedFor,
    Forwarded,
}

/// What an element of the header says.
type Parse = fn(&[u8]) -> Option<IpAddr>;

impl ForwardingHeader {
    /// Whom each proxy saw, the nearest one first: the lines of the header are one list, and proxies add to its end.
    /// What is not an address is `None`.
    pub(super) fn hops(self, headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
        let (name, hop): (_, Parse) = match self {
            Self::XForwardedFor => (X_FORWARDED_FOR, x_forwarded_for),
            Self::Forwarded => (FORWARDED, forwarded),
        };
        let lines = headers.get_all(name).into_iter().rev();
        lines.flat_map(|line| elements_from_the_right(line.as_bytes())).map(hop)
    }
}

/// The elements of a list, the last one first. A comma in quotes does not part elements, and quotes are counted from
/// the right too: one that a client left open cannot swallow what a proxy wrote after it.
fn elements_from_the_right(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    line.rsplit(move |&byte| {
        quoted ^= byte == b'"';
        byte == b',' && !quoted
    })
    .map(<[u8]>::trim_ascii)
}

/// An element of X-Forwarded-For: an address, with a port from some proxies.
fn x_forwarded_for(element: &[u8]) -> Option<IpAddr> {
    node(str::from_utf8(element).ok()?)
}

/// The `for` of an element of Forwarded, like `for="[2001:db8::1]:4711";proto=https`.
fn forwarded(element: &[u8]) -> Option<IpAddr> {
    let element = str::from_utf8(element).ok()?;
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    let (_, value) = values.next()?;
    // Of two, nobody knows which one the proxy wrote.
    if values.next().is_some() {
        return None;
    }
    let value = value.trim();
    let unquoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    node(unquoted.unwrap_or(value))
}

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`; not `unknown`, not `_hidden`.
fn node(text: &str) -> Option<IpAddr> {
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let with_port = || text.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    let address = text.parse().ok().or_else(with_port).or_else(bracketed)?;
    Some(address.to_canonical())
}
