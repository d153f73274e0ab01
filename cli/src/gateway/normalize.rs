//! Rewrites requests so that the rate limits and the upstream interpret them identically.

use http::{HeaderValue, Method, Request, Version, header::HOST, uri::Authority};

use super::{headers, response::ProxyError};
use crate::server::normalize::normalize_target;

/// Normalizes the path and the `Host` header, and removes the headers that `Connection` lists, or rejects the request. Limits must
/// not count by a header that the upstream does not receive.
pub(crate) fn normalize_request<B>(mut request: Request<B>) -> Result<Request<B>, ProxyError> {
    let bad_request = |message| Err(ProxyError::BadRequest(message));
    if request.method() == Method::CONNECT {
        return bad_request("This gateway does not support CONNECT.");
    }
    // In absolute form, the target's authority replaces the Host header (RFC 9112).
    if let Some(host) = request.uri().authority().map(Authority::as_str) {
        if host.contains('@') {
            return bad_request("The request target must not contain user information.");
        }
        let host = HeaderValue::from_str(host).expect("an authority is a valid header value");
        request.headers_mut().insert(HOST, host);
    }
    match request.headers().get_all(HOST).iter().count() {
        0 if request.version() >= Version::HTTP_11 => return bad_request("The request must have a Host header."),
        0 | 1 => {}
        _ => return bad_request("The request must have one Host header."),
    }
    if headers::has_unsupported_transfer_coding(request.headers()) {
        return bad_request("The request body must not have a transfer coding other than chunked.");
    }
    let target = match normalize_target(request.uri()) {
        Ok(target) => target,
        Err(message) => return bad_request(message),
    };
    *request.uri_mut() = target.into();
    headers::remove_listed_in_connection(request.headers_mut());
    Ok(request)
}
