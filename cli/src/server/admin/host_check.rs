//! Protects a loopback admin address from DNS rebinding: a page in the operator's browser can resolve its own host name to
//! 127.0.0.1, so only IP addresses and `localhost` are accepted as host.

use std::net::IpAddr;

use axum::{
    extract::Request,
    http::{StatusCode, header::HOST, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::error::AdminError;

pub(super) async fn require_local_host(request: Request, next: Next) -> Response {
    let headers = request.headers().get_all(HOST).into_iter();
    let hosts = headers.map(|host| Authority::try_from(host.as_bytes()).ok());
    // The `:authority` of HTTP/2.
    let target = request.uri().authority().cloned();
    // An invalid host is not local.
    if hosts
        .chain(target.map(Some))
        .all(|host| host.is_some_and(|host| is_local(host.host())))
    {
        next.run(request).await
    } else {
        let message = "the Host header must be an IP address or localhost";
        AdminError::new(StatusCode::FORBIDDEN, message).into_response()
    }
}

fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}
