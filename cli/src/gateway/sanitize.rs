//! Sanitizes the headers that identify the client, for an upstream that trusts this gateway.

use std::net::IpAddr;

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{COOKIE, FORWARDED},
};
use tollgate::rules::TrustedProxies;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PREFIX: &str = "x-forwarded-";
const X_REAL_IP: &str = "x-real-ip";

/// Removes forged headers, and appends the peer's address to the forwarding header that the rules use.
///
/// The forwarding header is `X-Forwarded-For` or `Forwarded`. Its previous value is kept if the peer is a trusted proxy. The
/// other of the two is always removed: a proxy that writes one usually forwards what the client wrote in the other. `X-Real-Ip`,
/// other `X-Forwarded-*` headers, and the headers that only proxies may set are removed unless a trusted proxy sent them. If one
/// of the latter has several lines, the last is kept, which is the one that limits use; cookies keep all lines, because HTTP/2
/// may split them. Lookalikes with underscores are always removed: many services treat `X_Plan` as `X-Plan`.
///
/// A request without a peer address (over a Unix socket) is not trusted, and no address is appended.
///
/// Call this after the limits and after the removal of the headers that `Connection` lists: otherwise a client could list a
/// header that this function adds.
pub(crate) fn sanitize_forwarded(headers: &mut HeaderMap, peer: Option<IpAddr>, proxies: &TrustedProxies) {
    let peer = peer.map(|peer| peer.to_canonical());
    let is_trusted = peer.is_some_and(|peer| proxies.contains(peer));
    let forwarding = proxies.forwarding_header();
    let other = if forwarding == FORWARDED {
        X_FORWARDED_FOR
    } else {
        FORWARDED
    };
    let is_kept = |name: &HeaderName| is_trusted && *name != other && !name.as_str().contains('_');
    remove_matching(headers, |name| identifies_client(name) && !is_kept(name));
    if let Some(peer) = peer {
        append_address(headers, &forwarding, peer);
    }
    remove_matching(headers, |name| is_lookalike(name, proxies.headers()));
    for name in proxies.headers().iter().filter(|name| **name != forwarding) {
        match is_trusted {
            false => drop(headers.remove(name)),
            true if *name == COOKIE => {}
            true => keep_last(headers, name),
        }
    }
}

/// Whether proxies describe the client by this header.
fn identifies_client(header: &HeaderName) -> bool {
    let name = header.as_str();
    let start = name.get(..X_FORWARDED_PREFIX.len()).unwrap_or_default();
    looks_like(start, X_FORWARDED_PREFIX) || looks_like(name, FORWARDED.as_str()) || looks_like(name, X_REAL_IP)
}

/// Whether a header is a lookalike of one in the list, but not in it.
fn is_lookalike(name: &HeaderName, headers: &[HeaderName]) -> bool {
    let matches = |header: &HeaderName| looks_like(name.as_str(), header.as_str());
    !headers.contains(name) && headers.iter().any(matches)
}

/// Whether two names are equal to a service that does not distinguish underscores and dashes, as CGI and WSGI do.
fn looks_like(name: &str, other: &str) -> bool {
    let dashed = |byte: u8| if byte == b'_' { b'-' } else { byte };
    name.len() == other.len() && name.bytes().map(dashed).eq(other.bytes().map(dashed))
}

fn remove_matching(headers: &mut HeaderMap, matches: impl Fn(&HeaderName) -> bool) {
    let names: Vec<_> = headers.keys().filter(|name| matches(name)).cloned().collect();
    names.iter().for_each(|name| drop(headers.remove(name)));
}

/// Joins the lines of a header and appends an address.
fn append_address(headers: &mut HeaderMap, name: &HeaderName, peer: IpAddr) {
    let address = match peer {
        peer if *name == X_FORWARDED_FOR => peer.to_string(),
        IpAddr::V4(peer) => format!("for={peer}"),
        IpAddr::V6(peer) => format!("for=\"[{peer}]\""),
    };
    let lines = headers.get_all(name).into_iter().map(HeaderValue::as_bytes);
    let list = lines.chain([address.as_bytes()]).collect::<Vec<_>>().join(&b", "[..]);
    headers.remove(name);
    // Joined values are a valid value. A map with more than twenty thousand headers may be full: then the header is missing,
    // and the upstream uses the gateway's address.
    if let Ok(list) = HeaderValue::try_from(list) {
        headers.try_insert(name, list).ok();
    }
}

/// Removes all lines of a header but the last.
fn keep_last(headers: &mut HeaderMap, name: &HeaderName) {
    let mut lines = headers.get_all(name).into_iter();
    if let (Some(last), Some(_)) = (lines.next_back().cloned(), lines.next()) {
        headers.remove(name);
        // Cannot fail: the removed lines left space.
        headers.try_insert(name, last).ok();
    }
}
