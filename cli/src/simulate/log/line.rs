//! Parses a line of an access log in the Common Log Format, or in the Combined one, which adds the referrer and the user agent.

use std::{borrow::Cow, net::IpAddr};

use tollgate::Micros;

use super::{quoted, time};

pub(super) struct Line<'a> {
    pub(super) host: &'a [u8],
    pub(super) user: Option<Cow<'a, [u8]>>,
    pub(super) at: Micros,
    /// The request line, like `GET / HTTP/1.1`.
    pub(super) request: Cow<'a, [u8]>,
    pub(super) referer: Option<Cow<'a, [u8]>>,
    pub(super) agent: Option<Cow<'a, [u8]>>,
}

impl<'a> Line<'a> {
    /// The error is what the line lacks.
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, &'static str> {
        let (host, rest) = split_at(line, b" ")
            .filter(|(host, _)| !host.is_empty())
            .ok_or("no host")?;
        let (identity, rest) = split_at(rest, b" ").ok_or("no user")?;
        // Apache's vhost_combined begins with the name of the virtual host.
        if identity != b"-" && is_address(identity) && !is_address(host) {
            return Err("no address in its first field, but in its second: remove the first with cut -d' ' -f2-");
        }
        // A user name may contain spaces; one with a space before a bracket is not supported.
        let (user, rest) = split_at(rest, b" [").ok_or("no time in brackets")?;
        let (when, rest) = split_at(rest, b"] \"").ok_or("no request in quotes")?;
        let at = time::micros(when).ok_or("no time like 10/Oct/2000:13:55:36 -0700")?;
        let (request, rest) = quoted::take(rest).ok_or("no end of its request")?;
        let mut rest = rest.strip_prefix(b" ").ok_or("no status")?;
        for missing in ["no status", "no size"] {
            let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            if number != b"-" && (number.is_empty() || !number.iter().all(u8::is_ascii_digit)) {
                return Err(missing);
            }
            rest = after.strip_prefix(b" ").unwrap_or(after);
        }
        let (referer, rest) = optional(rest);
        let (agent, _) = optional(rest.strip_prefix(b" ").unwrap_or_default());
        Ok(Self {
            host,
            user: present(quoted::unescape(user)),
            at,
            request,
            referer,
            agent,
        })
    }
}

fn is_address(field: &[u8]) -> bool {
    str::from_utf8(field).is_ok_and(|field| field.parse::<IpAddr>().is_ok())
}

/// Splits at the first occurrence of a delimiter.
fn split_at<'a>(text: &'a [u8], delimiter: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(delimiter.len()).position(|window| window == delimiter)?;
    Some((&text[..at], &text[at + delimiter.len()..]))
}

/// An optional field in quotes, and the rest of the line.
fn optional(text: &[u8]) -> (Option<Cow<'_, [u8]>>, &[u8]) {
    let field = text.strip_prefix(b"\"").and_then(quoted::take);
    field.map_or((None, &[]), |(field, rest)| (present(field), rest))
}

/// Servers log a missing value as `-` or as an empty string in quotes.
fn present(field: Cow<'_, [u8]>) -> Option<Cow<'_, [u8]>> {
    (!matches!(&*field, b"-" | b"" | b"\"\"")).then_some(field)
}
