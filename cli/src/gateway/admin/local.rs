//! A page in an operator's browser can make a name of its own point to this machine, and ask by that: an admin address of this
//! machine alone is asked by an address or as localhost.

use std::net::IpAddr;

use axum::{
    extract::Request,
    http::{StatusCode, header::HOST, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::answer::Refusal;

pub(super) async fn only(request: Request, next: Next) -> Response {
    let headers = request.headers().get_all(HOST).into_iter();
    let named = headers.map(|host| Authority::try_from(host.as_bytes()).ok());
    // In HTTP/2 the name is in the target.
    let target = request.uri().authority().cloned();
    // A name that cannot be read is none of this machine's.
    if named
        .chain(target.map(Some))
        .all(|host| host.is_some_and(|host| is_local(host.host())))
    {
        next.run(request).await
    } else {
        let how = "ask by an address of this machine, or as localhost";
        Refusal::new(StatusCode::FORBIDDEN, how).into_response()
    }
}

fn is_local(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok()
}
