//! A line of an access log, in the Common Log Format or in the Combined one, which has a referrer and an agent on top.

use std::borrow::Cow;

use tollgate::Micros;

use super::{quoted, time};

pub(super) struct Line<'a> {
    pub(super) host: &'a [u8],
    pub(super) user: Option<Cow<'a, [u8]>>,
    pub(super) at: Micros,
    /// As in `GET / HTTP/1.1`.
    pub(super) request: Cow<'a, [u8]>,
    pub(super) referer: Option<Cow<'a, [u8]>>,
    pub(super) agent: Option<Cow<'a, [u8]>>,
}

impl<'a> Line<'a> {
    /// Or what it lacks.
    pub(super) fn read(line: &'a [u8]) -> Result<Self, &'static str> {
        let (host, rest) = until(line, b" ")
            .filter(|(host, _)| !host.is_empty())
            .ok_or("no host")?;
        let (_, rest) = until(rest, b" ").ok_or("no user")?;
        // Users may have any name, but hardly one with a bracket after a blank.
        let (user, rest) = until(rest, b" [").ok_or("no time in brackets")?;
        let (when, rest) = until(rest, b"] \"").ok_or("no request in quotes")?;
        let at = time::micros(when).ok_or("no time like 10/Oct/2000:13:55:36 -0700")?;
        let (request, rest) = quoted::take(rest).ok_or("no end of its request")?;
        let mut rest = rest.strip_prefix(b" ").ok_or("no status")?;
        for lacking in ["no status", "no size"] {
            let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            if number != b"-" && (number.is_empty() || !number.iter().all(u8::is_ascii_digit)) {
                return Err(lacking);
            }
            rest = after.strip_prefix(b" ").unwrap_or(after);
        }
        let (referer, rest) = optional(rest);
        let (agent, _) = optional(rest.strip_prefix(b" ").unwrap_or_default());
        Ok(Self {
            host,
            user: present(quoted::plain(user)),
            at,
            request,
            referer,
            agent,
        })
    }
}

/// What is before the first of these, and what is after it.
fn until<'a>(text: &'a [u8], end: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(end.len()).position(|window| window == end)?;
    Some((&text[..at], &text[at + end.len()..]))
}

/// A field in quotes that may not be there, and what is after it.
fn optional(text: &[u8]) -> (Option<Cow<'_, [u8]>>, &[u8]) {
    let field = text.strip_prefix(b"\"").and_then(quoted::take);
    field.map_or((None, &[]), |(field, rest)| (present(field), rest))
}

/// What is absent is logged as `-`, or as nothing in quotes.
fn present(field: Cow<'_, [u8]>) -> Option<Cow<'_, [u8]>> {
    (!matches!(&*field, b"-" | b"" | b"\"\"")).then_some(field)
}
