//! Headers that are for the next one only, and those that tell where a message has been.

use http::{
    HeaderMap, HeaderName, HeaderValue,
    header::{CONNECTION, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, VIA},
};

const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// What is between two who are connected, whether or not they say so.
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

/// Removes what is for the gateway alone, and what the `Connection` header says is.
pub(crate) fn strip(headers: &mut HeaderMap) {
    let takes_trailers = lists(headers, &TE, "trailers");
    let named: Vec<HeaderName> = values(headers, &CONNECTION)
        .filter_map(|name| name.parse().ok())
        // What tells of the way is not for a client to take away.
        .filter(|name| !is_about_the_way(name))
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
    if takes_trailers {
        headers.insert(TE, HeaderValue::from_static("trailers"));
    }
}

/// The same of a request, and its trailers: nobody looks through them for what only proxies may say.
pub(crate) fn strip_request(headers: &mut HeaderMap) {
    headers.remove(TRAILER);
    strip(headers);
}

/// Whether a body is encoded in a way that is for the gateway to undo, and which it cannot: other than by chunks.
pub(crate) fn is_encoded_for_transfer(headers: &HeaderMap) -> bool {
    values(headers, &TRANSFER_ENCODING).any(|coding| !coding.eq_ignore_ascii_case("chunked"))
}

fn is_about_the_way(name: &HeaderName) -> bool {
    *name == HOST || *name == VIA || name.as_str() == "forwarded" || name.as_str().starts_with("x-forwarded-")
}

/// Whether a header that is a list has this in it.
pub(crate) fn lists(headers: &HeaderMap, name: &HeaderName, value: &str) -> bool {
    values(headers, name).any(|listed| listed.eq_ignore_ascii_case(value))
}

fn values<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// Says what the client asked for, where no trusted proxy has said so before.
pub(crate) fn tell(headers: &mut HeaderMap) {
    if let Some(host) = headers.get(HOST).cloned() {
        headers.entry(X_FORWARDED_HOST).or_insert(host);
    }
    let http = HeaderValue::from_static("http");
    headers.entry(X_FORWARDED_PROTO).or_insert(http);
}
