//! Matchers: predicates over requests.

use super::KeyError;

/// Selects the requests that are [exempt](crate::RateLimitLayer::exempt) or [blocked](crate::RateLimitLayer::block).
///
/// | matcher | matches requests |
/// | --- | --- |
/// | `\|request: &Request\| request.uri().path() == "/healthz"` | for which the closure returns `true` |
/// | `Method::OPTIONS` | with this HTTP method |
/// | `ClientIp::peer().in_networks(["10.0.0.0/8"])` | [from a network](crate::ClientIp::in_networks) |
/// | `[Method::OPTIONS, Method::TRACE]` | that one of the matchers in an array or a `Vec` matches |
///
/// An error rejects the request, as an error of a key extractor does, so that a request that might be blocked never passes.
/// An exemption treats [`KeyError::Missing`] as no match: the request is counted.
///
/// ```
/// use std::net::SocketAddr;
/// use http::{Method, Request};
/// use tollgate::{ClientIp, Matcher};
///
/// let request = Request::builder().method(Method::OPTIONS).extension(SocketAddr::from(([10, 1, 2, 3], 4711))).body(())?;
/// assert!([Method::OPTIONS, Method::TRACE].matches(&request)?);
/// assert!(ClientIp::peer().in_networks(["10.0.0.0/8"]).matches(&request)?);
/// assert!(!(|request: &Request<()>| request.uri().path() == "/healthz").matches(&request)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a matcher for `{Req}`",
    label = "not a matcher for `{Req}`",
    note = "use a `Method`, `ClientIp::peer().in_networks([\"10.0.0.0/8\"])`, an array of matchers, or a closure like \
            `|request: &Request| request.uri().path() == \"/healthz\"`, which has to name the type of its request"
)]
pub trait Matcher<Req> {
    /// Whether the request matches.
    fn matches(&self, request: &Req) -> Result<bool, KeyError>;
}

#[diagnostic::do_not_recommend]
impl<Req, F: Fn(&Req) -> bool> Matcher<Req> for F {
    fn matches(&self, request: &Req) -> Result<bool, KeyError> {
        Ok(self(request))
    }
}

/// Matches if any element does.
impl<Req, M: Matcher<Req>, const N: usize> Matcher<Req> for [M; N] {
    fn matches(&self, request: &Req) -> Result<bool, KeyError> {
        any(self, request)
    }
}

/// Matches if any element does.
impl<Req, M: Matcher<Req>> Matcher<Req> for Vec<M> {
    fn matches(&self, request: &Req) -> Result<bool, KeyError> {
        any(self, request)
    }
}

fn any<Req, M: Matcher<Req>>(matchers: &[M], request: &Req) -> Result<bool, KeyError> {
    for matcher in matchers {
        if matcher.matches(request)? {
            return Ok(true);
        }
    }
    Ok(false)
}
