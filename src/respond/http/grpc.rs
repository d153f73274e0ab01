//! Responses to gRPC requests: a status in the headers, and no body.

use std::fmt::Write;

use http::{HeaderName, HeaderValue, Method, Request, Response, header::CONTENT_TYPE};

use super::{
    super::{Rejection, Respond},
    denial,
    headers::{Headers, forward},
    held_body::{forward_permit, hold},
    rpc_status,
};
use crate::{decision::Decision, extract::KeyError, permit::Permit};

const MEDIA_TYPE: &str = "application/grpc";
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const GRPC_STATUS_DETAILS: HeaderName = HeaderName::from_static("grpc-status-details-bin");
const GRPC_RETRY_PUSHBACK_MS: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");

/// Responds to gRPC requests, for servers that serve gRPC only.
///
// The examples need tonic, so `tests/` runs them.
#[cfg_attr(not(doctest), doc = include_str!("grpc.md"))]
#[derive(Clone, Debug, Default)]
pub struct GrpcResponder {
    pub(super) headers: Headers,
}

impl GrpcResponder {
    /// Writes both families of headers, and the reset as an epoch time.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<B, C: Default + 'static, E> Respond<Request<B>, Response<C>, E> for GrpcResponder {
    type Context = ();

    fn context(&self, _: &Request<B>) {}

    fn forward(&self, decision: &Decision, request: &mut Request<B>) {
        forward(decision, request);
    }

    fn forward_permit(&self, permit: &Permit, request: &mut Request<B>) {
        forward_permit(permit, request);
    }

    fn reject(&self, (): (), rejection: Rejection) -> Result<Response<C>, E> {
        let mut response = reject(&rejection, C::default());
        self.headers.write_rejection(&rejection, response.headers_mut());
        Ok(response)
    }

    fn admit(&self, (): (), decision: &Decision, response: &mut Response<C>) {
        let denied_inside = is_denial(response);
        self.headers.write(decision, denied_inside, response.headers_mut());
    }

    fn hold(&self, permit: Permit, response: &mut Response<C>) {
        hold(permit, response);
    }
}

/// Whether a request is gRPC, in any encoding. gRPC always uses POST. gRPC-Web is not included: its statuses are in bodies.
pub(super) fn is_grpc<B>(request: &Request<B>) -> bool {
    let posted = (request.method() == Method::POST).then(|| request.headers());
    let media_type = posted
        .and_then(|headers| headers.get(CONTENT_TYPE))
        .map(HeaderValue::as_bytes);
    let parts = media_type.and_then(|media_type| media_type.split_at_checked(MEDIA_TYPE.len()));
    parts.is_some_and(|(start, rest)| {
        start.eq_ignore_ascii_case(MEDIA_TYPE.as_bytes()) && matches!(rest.first(), None | Some(b'+' | b';'))
    })
}

/// Whether a limit denied the call, or the service did with the same status.
pub(super) fn is_denial<C>(response: &Response<C>) -> bool {
    let status = response.headers().get(GRPC_STATUS);
    let is_limited = status.is_some_and(|status| *status == HeaderValue::from(Code::ResourceExhausted as u16));
    is_limited || denial::is_marked(response)
}

/// A gRPC trailers-only response: it ends with its headers, and its body is empty.
pub(super) fn reject<C>(rejection: &Rejection, empty: C) -> Response<C> {
    let mut response = Response::new(empty);
    denial::mark(rejection, &mut response);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    let code = code(rejection) as u16;
    headers.insert(GRPC_STATUS, HeaderValue::from(code));
    headers.insert(GRPC_MESSAGE, percent_encoded(&rejection.to_string()));
    if let Some(details) = rpc_status::details(code, rejection) {
        headers.insert(GRPC_STATUS_DETAILS, details);
    }
    if let Some(millis) = pushback(rejection) {
        headers.insert(GRPC_RETRY_PUSHBACK_MS, HeaderValue::from(millis));
    }
    response
}

/// The gRPC status codes of rejections.
enum Code {
    InvalidArgument = 3,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    Internal = 13,
    Unavailable = 14,
}

fn code(rejection: &Rejection) -> Code {
    match rejection {
        Rejection::Limited(decision) if decision.is_unavailable() => Code::Unavailable,
        Rejection::Limited(_) => Code::ResourceExhausted,
        Rejection::Unavailable(_) => Code::Unavailable,
        Rejection::Blocked => Code::PermissionDenied,
        Rejection::Key(KeyError::Missing { .. } | KeyError::Ambiguous { .. }) => Code::InvalidArgument,
        Rejection::Key(KeyError::NotProvided { .. }) => Code::Internal,
    }
}

/// The value of `grpc-retry-pushback-ms`: the milliseconds until a client may retry, rounded up, or -1 for never. Clients parse
/// 32 bits, so a longer wait is -1 too. Clients do not retry the status codes of a missing key or a blocked request.
fn pushback(rejection: &Rejection) -> Option<i32> {
    match rejection {
        Rejection::Limited(_) | Rejection::Unavailable(_) => {
            let millis = rejection
                .retry_after()
                .map(|wait| wait.as_nanos().div_ceil(1_000_000).max(1));
            Some(millis.and_then(|millis| millis.try_into().ok()).unwrap_or(-1))
        }
        Rejection::Key(_) | Rejection::Blocked => None,
    }
}

/// A gRPC message, in which `%` and all bytes that are not printable ASCII are percent-encoded.
fn percent_encoded(message: &str) -> HeaderValue {
    let mut encoded = String::with_capacity(message.len());
    for byte in message.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => encoded.push(byte.into()),
            _ => write!(encoded, "%{byte:02X}").expect("writing to a String never fails"),
        }
    }
    HeaderValue::try_from(encoded).expect("printable ASCII is valid in a header")
}
