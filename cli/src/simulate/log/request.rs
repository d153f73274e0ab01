//! The request of a log line.

use std::borrow::Cow;

use http::{
    HeaderName, HeaderValue, Method, Request, Uri,
    header::{REFERER, USER_AGENT},
};

use super::line::Line;
use crate::simulate::set_peer;

/// A request that is overwritten for each line, to avoid an allocation per line.
pub(super) struct ReusedRequest<'a> {
    request: Request<()>,
    user_header: Option<&'a HeaderName>,
}

impl<'a> ReusedRequest<'a> {
    pub(super) fn new(user_header: Option<&'a HeaderName>) -> Self {
        let request = Request::new(());
        Self { request, user_header }
    }

    /// Sets the request of a line. The error is what the line lacks: a server rejects such a request before any limit.
    pub(super) fn set(&mut self, line: &Line<'_>) -> Result<&Request<()>, &'static str> {
        let (method, target) = method_and_target(&line.request).ok_or("no request like GET / HTTP/1.1")?;
        *self.request.method_mut() = Method::from_bytes(method).map_err(|_| "no method in its request")?;
        *self.request.uri_mut() = path(target).ok_or("no path in its request")?;
        self.request.headers_mut().clear();
        self.set_header(Some(&REFERER), line.referer.as_ref());
        self.set_header(Some(&USER_AGENT), line.agent.as_ref());
        self.set_header(self.user_header, line.user.as_ref());
        // Servers may log a host name instead of an address.
        let host = str::from_utf8(line.host).ok();
        let address = host.and_then(|host| host.parse().ok());
        set_peer(self.request.extensions_mut(), address);
        Ok(&self.request)
    }

    /// Sets a header, unless its value is invalid.
    fn set_header(&mut self, name: Option<&HeaderName>, value: Option<&Cow<'_, [u8]>>) {
        let value = value.and_then(|value| HeaderValue::from_bytes(value).ok());
        if let (Some(name), Some(value)) = (name, value) {
            self.request.headers_mut().insert(name, value);
        }
    }
}

/// Splits a request line. The protocol is optional.
fn method_and_target(request: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut parts = request.split(|byte| *byte == b' ');
    let method_and_target = (parts.next()?, parts.next()?);
    let is_valid = parts.next().is_none_or(|protocol| protocol.starts_with(b"HTTP/"));
    (is_valid && parts.next().is_none()).then_some(method_and_target)
}

/// The target in any form that has a path.
fn path(target: &[u8]) -> Option<Uri> {
    Uri::try_from(target).ok().filter(|uri| !uri.path().is_empty())
}
