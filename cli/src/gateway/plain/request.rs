//! Requests that can be read in one way only: what limits are asked about is what the service gets.

use http::{
    HeaderValue, Method, Request, Uri, Version,
    header::HOST,
    uri::{Authority, PathAndQuery},
};

use super::path;
use crate::gateway::{answer::Failing, forwarding};

/// The request with a plain path and one host, or what is wrong with it.
pub(crate) fn tidy<B>(mut request: Request<B>) -> Result<Request<B>, Failing> {
    let bad = |why| Err(Failing::BadRequest(why));
    if request.method() == Method::CONNECT {
        return bad("This gateway does not connect clients to elsewhere.");
    }
    // Who writes the whole address names the host there.
    if let Some(host) = request.uri().authority().map(Authority::as_str) {
        if host.contains('@') {
            return bad("The request's target must not have a user in it.");
        }
        let host = HeaderValue::from_str(host).expect("an authority is a header's value");
        request.headers_mut().insert(HOST, host);
    }
    match request.headers().get_all(HOST).iter().count() {
        0 if request.version() >= Version::HTTP_11 => return bad("The request must have a Host header."),
        0 | 1 => {}
        _ => return bad("The request must have one Host header."),
    }
    if forwarding::is_encoded_for_transfer(request.headers()) {
        return bad("The request's body must not be encoded for its transfer, but by chunks.");
    }
    let target = match plain(request.uri()) {
        Ok(target) => target,
        Err(why) => return bad(why),
    };
    *request.uri_mut() = target.into();
    Ok(request)
}

fn plain(uri: &Uri) -> Result<PathAndQuery, &'static str> {
    let path = path::plain(uri.path())?;
    let target = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.into_owned(),
    };
    target.parse().map_err(|_| "The path cannot be read.")
}
