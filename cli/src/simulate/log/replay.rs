//! The request that a line of a log tells of.

use std::borrow::Cow;

use http::{
    HeaderName, HeaderValue, Method, Request, Uri,
    header::{REFERER, USER_AGENT},
};

use super::line::Line;
use crate::simulate::peer;

/// One request that is written over and over: a million of them would be made and thrown away.
pub(super) struct Replay<'a> {
    request: Request<()>,
    user_header: Option<&'a HeaderName>,
}

impl<'a> Replay<'a> {
    pub(super) fn new(user_header: Option<&'a HeaderName>) -> Self {
        let request = Request::new(());
        Self { request, user_header }
    }

    /// Or why there was none: what cannot be understood is not let through to where limits are.
    pub(super) fn request(&mut self, line: &Line<'_>) -> Result<&Request<()>, &'static str> {
        let (method, target) = opening(&line.request).ok_or("no request like GET / HTTP/1.1")?;
        *self.request.method_mut() = Method::from_bytes(method).map_err(|_| "no method in its request")?;
        *self.request.uri_mut() = path(target).ok_or("no path in its request")?;
        self.request.headers_mut().clear();
        self.send(Some(&REFERER), line.referer.as_ref());
        self.send(Some(&USER_AGENT), line.agent.as_ref());
        self.send(self.user_header, line.user.as_ref());
        // Servers may log names in place of addresses.
        let host = str::from_utf8(line.host).ok();
        let address = host.and_then(|host| host.parse().ok());
        peer::set(self.request.extensions_mut(), address);
        Ok(&self.request)
    }

    /// A header, unless it is one that no server would take.
    fn send(&mut self, name: Option<&HeaderName>, value: Option<&Cow<'_, [u8]>>) {
        let value = value.and_then(|value| HeaderValue::from_bytes(value).ok());
        if let (Some(name), Some(value)) = (name, value) {
            self.request.headers_mut().insert(name, value);
        }
    }
}

/// The method and the target. A protocol comes last, if one was named.
fn opening(request: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut words = request.split(|byte| *byte == b' ');
    let opening = (words.next()?, words.next()?);
    let is_sound = words.next().is_none_or(|protocol| protocol.starts_with(b"HTTP/"));
    (is_sound && words.next().is_none()).then_some(opening)
}

/// Whatever there is around it.
fn path(target: &[u8]) -> Option<Uri> {
    Uri::try_from(target).ok().filter(|uri| !uri.path().is_empty())
}
