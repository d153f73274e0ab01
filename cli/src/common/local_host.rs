//! Protects a loopback address from DNS rebinding: a page in the operator's browser can resolve its own host name to 127.0.0.1, so only
//! IP addresses and `localhost` are accepted as host.

use std::net::IpAddr;

use http::{Request, header::HOST, uri::Authority};

/// Whether the request names no other host. An invalid host is another one.
pub(crate) fn has_local_host<B>(request: &Request<B>) -> bool {
    let headers = request.headers().get_all(HOST).into_iter();
    let hosts = headers.map(|host| Authority::try_from(host.as_bytes()).ok());
    // The `:authority` of HTTP/2.
    let target = request.uri().authority().cloned();
    let mut hosts = hosts.chain(target.map(Some));
    hosts.all(|host| host.is_some_and(|host| is_local(host.host())))
}

fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}
