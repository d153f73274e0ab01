//! Hop-by-hop headers, and `X-Forwarded-Host` and `X-Forwarded-Proto`.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{
        ACCEPT_ENCODING, CONNECTION, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING,
        UPGRADE, VIA,
    },
};

const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Headers that are hop-by-hop even if `Connection` does not list them.
const HOP_BY_HOP: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Removes hop-by-hop headers, including those that `Connection` lists.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let accepts_trailers = list_contains(headers, &TE, "trailers");
    remove_listed_in_connection(headers);
    for name in &HOP_BY_HOP {
        headers.remove(name);
    }
    if accepts_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
}

/// Removes the headers that `Connection` lists, without those that are hop-by-hop anyway.
pub(crate) fn remove_listed_in_connection(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = list_values(headers, &CONNECTION)
        .filter_map(|name| name.parse().ok())
        // A client must not remove what proxies report about it, or what a limit that reads the response asks for.
        .filter(|name| !is_forwarding_header(name) && *name != ACCEPT_ENCODING && !HOP_BY_HOP.contains(name))
        .collect();
    for name in &listed {
        headers.remove(name);
    }
}

/// Removes hop-by-hop headers and `Trailer` from a request: trailers are not forwarded, because they are not sanitized.
pub(crate) fn remove_hop_by_hop_from_request(headers: &mut HeaderMap) {
    headers.remove(TRAILER);
    remove_hop_by_hop(headers);
}

/// Whether a body has a transfer coding other than `chunked`, which the gateway cannot decode.
pub(crate) fn has_unsupported_transfer_coding(headers: &HeaderMap) -> bool {
    list_values(headers, &TRANSFER_ENCODING).any(|coding| !coding.eq_ignore_ascii_case("chunked"))
}

fn is_forwarding_header(name: &HeaderName) -> bool {
    *name == HOST || *name == VIA || name.as_str() == "forwarded" || name.as_str().starts_with("x-forwarded-")
}

/// Whether a comma-separated header contains a value.
pub(crate) fn list_contains(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    list_values(headers, name).any(|listed| listed.eq_ignore_ascii_case(value))
}

fn list_values<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// Adds `X-Forwarded-Host` and `X-Forwarded-Proto`, unless a trusted proxy has set them.
pub(crate) fn add_forwarded_host_and_proto(headers: &mut HeaderMap) {
    if let Some(host) = headers.get(HOST).cloned() {
        headers.entry(X_FORWARDED_HOST).or_insert(host);
    }
    let http = HeaderValue::from_static("http");
    headers.entry(X_FORWARDED_PROTO).or_insert(http);
}
