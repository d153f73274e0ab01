//! Answers to gRPC requests: a status in the headers, and no body.

use std::fmt::Write;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, header::CONTENT_TYPE};

use super::{
    super::{Rejection, Respond},
    forward::forward,
    headers::Headers,
};
use crate::{decision::Decision, extract::KeyError};

const MEDIA_TYPE: &str = "application/grpc";
const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");
const GRPC_MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const GRPC_RETRY_PUSHBACK_MS: HeaderName = HeaderName::from_static("grpc-retry-pushback-ms");

/// Answers to gRPC requests, for servers that speak nothing else.
///
// Its examples need tonic: they are run from `tests/`.
#[cfg_attr(not(doctest), doc = include_str!("grpc.md"))]
#[derive(Clone, Debug, Default)]
pub struct GrpcAnswers {
    pub(super) headers: Headers,
}

impl GrpcAnswers {
    /// Both families of headers, and a reset by the epoch.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<B, C: Default, E> Respond<Request<B>, Response<C>, E> for GrpcAnswers {
    type Context = ();

    fn context(&self, _: &Request<B>) {}

    fn forward(&self, decision: &Decision, request: &mut Request<B>) {
        forward(decision, request);
    }

    fn reject(&self, (): (), why: Rejection) -> Result<Response<C>, E> {
        let mut response = refusal(&why, C::default());
        self.headers.write_refusal(&why, response.headers_mut());
        Ok(response)
    }

    fn admit(&self, (): (), decision: &Decision, response: &mut Response<C>) {
        let headers = response.headers_mut();
        self.headers.write(decision, is_limited(headers), headers);
    }
}

/// Whether a request is gRPC, in whatever encoding, which always POSTs. gRPC-Web is not: its statuses are in bodies.
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

/// Whether a limit has refused a call.
pub(super) fn is_limited(headers: &HeaderMap) -> bool {
    let status = headers.get(GRPC_STATUS);
    status.is_some_and(|status| *status == HeaderValue::from(Code::ResourceExhausted as u16))
}

/// What gRPC calls trailers-only: a response that ends with its headers, around an empty body.
pub(super) fn refusal<C>(why: &Rejection, empty: C) -> Response<C> {
    let mut response = Response::new(empty);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers.insert(GRPC_STATUS, HeaderValue::from(code(why) as u16));
    headers.insert(GRPC_MESSAGE, percent_encoded(&why.to_string()));
    if let Some(millis) = pushback(why) {
        headers.insert(GRPC_RETRY_PUSHBACK_MS, HeaderValue::from(millis));
    }
    response
}

/// Of the codes that gRPC has, those of refusals.
enum Code {
    InvalidArgument = 3,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    Internal = 13,
    Unavailable = 14,
}

fn code(why: &Rejection) -> Code {
    match why {
        Rejection::Limited(_) => Code::ResourceExhausted,
        Rejection::Unavailable(_) => Code::Unavailable,
        Rejection::Denied => Code::PermissionDenied,
        Rejection::Key(KeyError::Missing { .. }) => Code::InvalidArgument,
        Rejection::Key(KeyError::NotProvided { .. }) => Code::Internal,
    }
}

/// In how many milliseconds a client may try again by itself, rounded up; -1 is never. Clients read 32 bits, and none
/// should wait for longer than these hold. Nobody retries what lacks its key or is denied anyway.
fn pushback(why: &Rejection) -> Option<i32> {
    match why {
        Rejection::Limited(_) | Rejection::Unavailable(_) => {
            let millis = why.retry_after().map(|wait| wait.as_nanos().div_ceil(1_000_000).max(1));
            Some(millis.and_then(|millis| millis.try_into().ok()).unwrap_or(-1))
        }
        Rejection::Key(_) | Rejection::Denied => None,
    }
}

/// As gRPC has messages: whatever is not printable in ASCII is escaped, and so is the sign that escapes.
fn percent_encoded(message: &str) -> HeaderValue {
    let mut encoded = String::with_capacity(message.len());
    for byte in message.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => encoded.push(byte.into()),
            _ => write!(encoded, "%{byte:02X}").expect("a String takes whatever is written"),
        }
    }
    HeaderValue::try_from(encoded).expect("printable ASCII may be in a header")
}
