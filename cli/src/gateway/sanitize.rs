//! Makes what a request says of where it came from true, for the next service, which trusts this gateway.

use std::net::IpAddr;

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{COOKIE, FORWARDED},
};
use tollgate::rules::TrustedProxies;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PREFIX: &str = "x-forwarded-";
const X_REAL_IP: &str = "x-real-ip";

/// Removes what a client made up, and adds the address of the peer to the header that the rules read.
///
/// What was in that header before stays if the peer is a trusted proxy, else it is removed, since a client wrote it. The other
/// one of `X-Forwarded-For` and `Forwarded` is removed in any case: proxies that write the one let through what clients wrote in
/// the other. `X-Real-Ip`, other headers that begin with `X-Forwarded-`, and the headers that only proxies may set are removed
/// too, unless a trusted proxy sent them; of several lines of one of the latter, the last is kept, by which limits count. (Of
/// cookies, all are: HTTP/2 may send each in a line of its own.) Names that read like one of these with underscores are removed
/// in any case: many services take `X_Plan` for `X-Plan`.
///
/// A request without a peer (over a Unix socket) is believed nothing, and nothing is added.
///
/// Call it after the request was counted, and after what its `Connection` header names was removed: else a client could name
/// there what this adds.
pub(crate) fn sanitize_forwarded(headers: &mut HeaderMap, peer: Option<IpAddr>, proxies: &TrustedProxies) {
    let peer = peer.map(|peer| peer.to_canonical());
    let is_relayed = peer.is_some_and(|peer| proxies.contains(peer));
    let forwarding = proxies.forwarding_header();
    let other = if forwarding == FORWARDED {
        X_FORWARDED_FOR
    } else {
        FORWARDED
    };
    let is_believed = |name: &HeaderName| is_relayed && *name != other && !name.as_str().contains('_');
    remove_all(headers, |name| is_about_the_client(name) && !is_believed(name));
    if let Some(peer) = peer {
        append_address(headers, &forwarding, peer);
    }
    remove_all(headers, |name| is_lookalike(name, proxies.headers()));
    for name in proxies.headers().iter().filter(|name| !is_about_the_client(name)) {
        match is_relayed {
            false => drop(headers.remove(name)),
            true if *name == COOKIE => {}
            true => keep_last(headers, name),
        }
    }
}

/// Whether proxies say by this header where a request came from, or what they saw of it.
fn is_about_the_client(header: &HeaderName) -> bool {
    let name = header.as_str();
    let beginning = name.get(..X_FORWARDED_PREFIX.len()).unwrap_or_default();
    reads_like(beginning, X_FORWARDED_PREFIX) || reads_like(name, FORWARDED.as_str()) || reads_like(name, X_REAL_IP)
}

/// Whether a header is none of these, and reads like one of them.
fn is_lookalike(name: &HeaderName, headers: &[HeaderName]) -> bool {
    let is_read_as = |header: &HeaderName| reads_like(name.as_str(), header.as_str());
    !headers.contains(name) && headers.iter().any(is_read_as)
}

/// Whether two names are one to a service that takes an underscore for a dash, as all do whose headers are variables.
fn reads_like(name: &str, other: &str) -> bool {
    let dashed = |byte: u8| if byte == b'_' { b'-' } else { byte };
    name.len() == other.len() && name.bytes().map(dashed).eq(other.bytes().map(dashed))
}

fn remove_all(headers: &mut HeaderMap, is_meant: impl Fn(&HeaderName) -> bool) {
    let names: Vec<_> = headers.keys().filter(|name| is_meant(name)).cloned().collect();
    names.iter().for_each(|name| drop(headers.remove(name)));
}

/// Adds an address to the end of the list, which is one line then.
fn append_address(headers: &mut HeaderMap, name: &HeaderName, peer: IpAddr) {
    let address = match peer {
        peer if *name == X_FORWARDED_FOR => peer.to_string(),
        IpAddr::V4(peer) => format!("for={peer}"),
        IpAddr::V6(peer) => format!("for=\"[{peer}]\""),
    };
    let lines = headers.get_all(name).into_iter().map(HeaderValue::as_bytes);
    let list = lines.chain([address.as_bytes()]).collect::<Vec<_>>().join(&b", "[..]);
    headers.remove(name);
    // A list of values is a value. There may be no room for it, beside more than twenty thousand others: then nobody is named,
    // and the next service finds this gateway.
    if let Ok(list) = HeaderValue::try_from(list) {
        headers.try_insert(name, list).ok();
    }
}

/// Of several lines of a header, leaves the last.
fn keep_last(headers: &mut HeaderMap, name: &HeaderName) {
    let mut lines = headers.get_all(name).into_iter();
    if let (Some(last), Some(_)) = (lines.next_back().cloned(), lines.next()) {
        headers.remove(name);
        // It takes the room of those that were removed.
        headers.try_insert(name, last).ok();
    }
}
