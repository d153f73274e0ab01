//! The original request, as the proxy describes it in the headers of a check.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, request::Parts, uri::PathAndQuery};

use super::error::CheckError;
use crate::server::normalize::normalize_target;

/// A header by which a proxy describes the original request. Traefik and Caddy set both; nginx has to be configured.
///
/// No other names are read, like `X-Original-URI`: a client could send the one that its proxy does not overwrite.
struct Description {
    header: HeaderName,
    name: &'static str,
    value: &'static str,
    nginx: &'static str,
}

const METHOD: Description = Description {
    header: HeaderName::from_static("x-forwarded-method"),
    name: "X-Forwarded-Method",
    value: "the method",
    nginx: "proxy_set_header X-Forwarded-Method $request_method;",
};

const URI: Description = Description {
    header: HeaderName::from_static("x-forwarded-uri"),
    name: "X-Forwarded-Uri",
    value: "the path and query",
    nginx: "proxy_set_header X-Forwarded-Uri $request_uri;",
};

/// Rebuilds the original request, with its path normalized. The extensions, with the address of the peer, are those of the check.
pub(super) fn original_request(mut head: Parts) -> Result<Request<()>, CheckError> {
    let method = METHOD.take(&mut head.headers)?;
    let uri = URI.take(&mut head.headers)?;
    head.method = Method::from_bytes(method.as_bytes()).map_err(|_| METHOD.error("must be an HTTP method"))?;
    if !uri.as_bytes().starts_with(b"/") {
        return Err(URI.error("must be a path that begins with a slash, with a query if there is one"));
    }
    // From here on, an error is the client's.
    let target = PathAndQuery::try_from(encode_unsafe(uri.as_bytes()));
    head.uri = target
        .map_err(|_| CheckError::BadRequest("The path or the query is invalid.".into()))?
        .into();
    let target = normalize_target(&head.uri).map_err(|reason| CheckError::BadRequest(reason.into()))?;
    head.uri = target.into();
    Ok(Request::from_parts(head, ()))
}

/// Percent-encodes characters that proxies and applications accept, and that are not valid in a URI.
fn encode_unsafe(target: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(target.len());
    for byte in target {
        match byte {
            b'"' => encoded.extend(b"%22"),
            b'<' => encoded.extend(b"%3C"),
            b'>' => encoded.extend(b"%3E"),
            b'`' => encoded.extend(b"%60"),
            _ => encoded.push(*byte),
        }
    }
    encoded
}

impl Description {
    /// Removes the header and returns its only value.
    fn take(&self, headers: &mut HeaderMap) -> Result<HeaderValue, CheckError> {
        if headers.get_all(&self.header).iter().count() > 1 {
            return Err(self.error("must not be repeated"));
        }
        headers.remove(&self.header).ok_or_else(|| self.error("is missing"))
    }

    fn error(&self, reason: &str) -> CheckError {
        let Self { name, value, nginx, .. } = self;
        CheckError::BadRequest(format!(
            "{name} {reason}. The proxy has to set it to {value} of the original request: Traefik and Caddy do; for nginx, add {nginx}"
        ))
    }
}
