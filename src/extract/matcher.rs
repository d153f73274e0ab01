//! Which requests are meant.

use super::KeyError;

/// Says which requests are meant: those that are [exempt](crate::RateLimitLayer::exempt), or those that are
/// [denied](crate::RateLimitLayer::deny).
///
/// | matcher | means requests |
/// | --- | --- |
/// | `\|request: &Request\| request.uri().path() == "/healthz"` | for which a closure says so |
/// | `Method::OPTIONS` | of an HTTP method |
/// | `ClientIp::peer().within(["10.0.0.0/8"])` | [from a network](crate::ClientIp::within) |
/// | `[Method::OPTIONS, Method::TRACE]` | that one of an array means, or of a `Vec` |
///
/// An error refuses the request, as one of a key does: whoever cannot be told from the denied does not pass. But a request
/// that only lacks what would exempt it ([`KeyError::Missing`]) is counted.
///
/// ```
/// use std::net::SocketAddr;
/// use http::{Method, Request};
/// use tollgate::{ClientIp, Matcher};
///
/// let request = Request::builder().method(Method::OPTIONS).extension(SocketAddr::from(([10, 1, 2, 3], 4711))).body(())?;
/// assert!([Method::OPTIONS, Method::TRACE].matches(&request)?);
/// assert!(ClientIp::peer().within(["10.0.0.0/8"]).matches(&request)?);
/// assert!(!(|request: &Request<()>| request.uri().path() == "/healthz").matches(&request)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which of `{Req}` are meant",
    label = "means no `{Req}`",
    note = "use a `Method`, `ClientIp::peer().within([\"10.0.0.0/8\"])`, an array of such, or a closure like \
            `|request: &Request| request.uri().path() == \"/healthz\"`, which has to name the type of its request"
)]
pub trait Matcher<Req> {
    /// Whether the request is meant.
    fn matches(&self, request: &Req) -> Result<bool, KeyError>;
}

#[diagnostic::do_not_recommend]
impl<Req, F: Fn(&Req) -> bool> Matcher<Req> for F {
    fn matches(&self, request: &Req) -> Result<bool, KeyError> {
        Ok(self(request))
    }
}

/// Any of them.
impl<Req, M: Matcher<Req>, const N: usize> Matcher<Req> for [M; N] {
    fn matches(&self, request: &Req) -> Result<bool, KeyError> {
        any(self, request)
    }
}

/// Any of them.
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
