//! Requests from an address, with forwarding headers.

use std::net::SocketAddr;

use http::{HeaderName, HeaderValue, Request, header::FORWARDED};
use tollgate::{ClientIp, KeyExtractor};

pub(crate) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// A request from this address, with lines of a header.
pub(crate) fn request<V: AsRef<[u8]>>(
    peer: &str,
    header: &HeaderName,
    lines: impl IntoIterator<Item = V>,
) -> Request<()> {
    let mut request = Request::new(());
    request
        .extensions_mut()
        .insert(SocketAddr::new(peer.parse().unwrap(), 4711));
    for line in lines {
        let line = HeaderValue::from_bytes(line.as_ref()).unwrap();
        request.headers_mut().append(header, line);
    }
    request
}

/// The text of the request's key.
#[track_caller]
pub(crate) fn key<B>(extractor: &impl KeyExtractor<Request<B>>, request: &Request<B>) -> String {
    extractor.extract(request).unwrap().to_string()
}

/// The key of a request with these lines of `X-Forwarded-For`.
#[track_caller]
pub(crate) fn x_forwarded_for(ip: &ClientIp, peer: &str, lines: &[&str]) -> String {
    key(ip, &request(peer, &X_FORWARDED_FOR, lines))
}

/// The key of a request with these lines of `Forwarded`.
#[track_caller]
pub(crate) fn forwarded(ip: &ClientIp, peer: &str, lines: &[&str]) -> String {
    key(ip, &request(peer, &FORWARDED, lines))
}
