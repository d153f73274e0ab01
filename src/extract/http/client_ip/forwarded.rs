//! `X-Forwarded-For` and `Forwarded`: the addresses that proxies record.

use std::{borrow::Cow, net::IpAddr};

use http::{HeaderMap, HeaderName, HeaderValue, header::FORWARDED};
use smallvec::SmallVec;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The header that addresses are read from.
#[derive(Clone, Copy, Debug)]
pub(super) enum ForwardingHeader {
    XForwardedFor,
    Forwarded,
}

/// Parses an element of the header.
type ParseElement = fn(&[u8]) -> Option<IpAddr>;

impl ForwardingHeader {
    pub(super) const fn name(self) -> HeaderName {
        match self {
            Self::XForwardedFor => X_FORWARDED_FOR,
            Self::Forwarded => FORWARDED,
        }
    }

    /// The address that each proxy recorded, from the nearest proxy to the farthest, since proxies append to the list. An element
    /// that is not an address is `None`.
    pub(super) fn hops(self, headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
        let parse: ParseElement = match self {
            Self::XForwardedFor => x_forwarded_for,
            Self::Forwarded => forwarded,
        };
        let list = self.list(headers);
        let mut rest = list.as_ref().map(|list| list.len());
        std::iter::from_fn(move || {
            let (before, element) = split_last(&list.as_ref()?[..rest?], b',');
            rest = before.map(<[u8]>::len);
            Some(parse(element))
        })
    }

    /// All lines of the header, joined into one list.
    fn list(self, headers: &HeaderMap) -> Option<Cow<'_, [u8]>> {
        let lines = headers.get_all(self.name()).into_iter().map(HeaderValue::as_bytes);
        match &*lines.collect::<SmallVec<[_; 1]>>() {
            [] => None,
            [line] => Some(Cow::Borrowed(line)),
            lines => Some(Cow::Owned(lines.join(&b", "[..]))),
        }
    }
}

/// Splits at the last separator outside of quotes, if there is one. Quotes are paired from the right, so that a quote that a
/// client left open does not hide the elements that proxies appended.
fn split_last(text: &[u8], separator: u8) -> (Option<&[u8]>, &[u8]) {
    let mut quoted = false;
    let is_separator = |&at: &usize| {
        quoted ^= text[at] == b'"' && !is_escaped(text, at);
        text[at] == separator && !quoted
    };
    let at = (0..text.len()).rev().find(is_separator);
    let after = at.map_or(0, |at| at + 1);
    (at.map(|at| &text[..at]), text[after..].trim_ascii())
}

/// The parts between separators, from right to left.
fn rsplit(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let (before, last) = split_last(rest?, separator);
        rest = before;
        Some(last)
    })
}

/// Whether an odd number of backslashes precedes the byte.
fn is_escaped(text: &[u8], at: usize) -> bool {
    text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// An element of `X-Forwarded-For`: an address, to which some proxies add a port.
fn x_forwarded_for(element: &[u8]) -> Option<IpAddr> {
    node(str::from_utf8(element).ok()?)
}

/// The `for` parameter of an element of `Forwarded`, like `for="[2001:db8::1]:4711";proto=https`.
fn forwarded(element: &[u8]) -> Option<IpAddr> {
    let mut values = rsplit(element, b';').filter_map(|pair| {
        let (name, value) = pair.split_at_checked("for=".len())?;
        name.eq_ignore_ascii_case(b"for=").then_some(value)
    });
    let value = values.next()?;
    // With two `for` parameters, the element is ambiguous.
    if values.next().is_some() {
        return None;
    }
    let value = str::from_utf8(value).ok()?;
    let unquoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    node(unquoted.unwrap_or(value))
}

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`; not `unknown`, not `_hidden`.
fn node(text: &str) -> Option<IpAddr> {
    let address = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            let has_port = port.strip_prefix(':').is_some_and(is_port);
            let address = (port.is_empty() || has_port).then_some(address)?;
            IpAddr::V6(address.parse().ok()?)
        }
        None => match text.split_once(':') {
            Some((address, port)) if is_port(port) => IpAddr::V4(address.parse().ok()?),
            _ => text.parse().ok()?,
        },
    };
    Some(address.to_canonical())
}

/// A port number or an obfuscated port (RFC 7239). Other characters are invalid: otherwise an element with an unpaired quote
/// would parse as an address with a long port.
fn is_port(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}
