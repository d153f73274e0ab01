//! What proxies wrote about whom they saw.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header::FORWARDED};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The one header that is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum ForwardingHeader {
    XForwardedFor,
    Forwarded,
}

/// What an element of the header says.
type Parse = fn(&[u8]) -> Option<IpAddr>;

impl ForwardingHeader {
    /// Whom each proxy saw, the nearest one first: the lines of the header are one list, and proxies add to its end.
    /// What is not an address is `None`.
    pub(super) fn hops(self, headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
        let (name, hop): (_, Parse) = match self {
            Self::XForwardedFor => (X_FORWARDED_FOR, x_forwarded_for),
            Self::Forwarded => (FORWARDED, forwarded),
        };
        let lines = headers.get_all(name).into_iter().rev();
        lines
            .flat_map(|line| split_from_the_right(line.as_bytes(), b','))
            .map(hop)
    }
}

/// What stands between separators that are not in quotes, the last one first. Quotes are counted from the right too: one
/// that a client left open cannot swallow what a proxy wrote after it.
fn split_from_the_right(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let (mut rest, mut quoted) = (Some(text), false);
    std::iter::from_fn(move || {
        let text = rest?;
        let is_separator = |&at: &usize| {
            quoted ^= text[at] == b'"' && !is_escaped(text, at);
            text[at] == separator && !quoted
        };
        let at = (0..text.len()).rev().find(is_separator);
        rest = at.map(|at| &text[..at]);
        Some(text[at.map_or(0, |at| at + 1)..].trim_ascii())
    })
}

/// Whether an odd number of backslashes stands before it.
fn is_escaped(text: &[u8], at: usize) -> bool {
    text[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// An element of X-Forwarded-For: an address, with a port from some proxies.
fn x_forwarded_for(element: &[u8]) -> Option<IpAddr> {
    node(str::from_utf8(element).ok()?)
}

/// The `for` of an element of Forwarded, like `for="[2001:db8::1]:4711";proto=https`.
fn forwarded(element: &[u8]) -> Option<IpAddr> {
    let mut values = split_from_the_right(element, b';').filter_map(|pair| {
        let (name, value) = pair.split_at_checked("for=".len())?;
        name.eq_ignore_ascii_case(b"for=").then_some(value)
    });
    let value = values.next()?;
    // Of two, nobody knows which one the proxy meant.
    if values.next().is_some() {
        return None;
    }
    let value = str::from_utf8(value).ok()?;
    let unquoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    node(unquoted.unwrap_or(value))
}

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`; not `unknown`, not `_hidden`.
/// A port may be hidden too, and is not looked at.
fn node(text: &str) -> Option<IpAddr> {
    let address = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            let has_port = port.len() > 1 && port.starts_with(':');
            let address = (port.is_empty() || has_port).then_some(address)?;
            IpAddr::V6(address.parse().ok()?)
        }
        None => match text.split_once(':') {
            Some((address, port)) if !port.is_empty() && !port.contains(':') => IpAddr::V4(address.parse().ok()?),
            _ => text.parse().ok()?,
        },
    };
    Some(address.to_canonical())
}
