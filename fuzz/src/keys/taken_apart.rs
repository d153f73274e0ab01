//! A key in Redis, read from left to right by whoever knows nothing but how keys are written.

use tollgate::fuzzing::digest;

use super::identity::Part;

pub(super) struct TakenApart<'k> {
    pub(super) limit: &'k str,
    pub(super) identity: &'k str,
}

/// A part of an identity.
enum Read<'k> {
    Named { label: &'k str, value: &'k str },
    StandIn(&'k str),
    Route(&'k str),
    Address(&'k str),
    Several(Vec<Self>),
}

impl<'k> TakenApart<'k> {
    pub(super) fn of(key: &'k str) -> Option<Self> {
        let key = key.strip_prefix("rate_limit:")?;
        let (algorithm, _) = key.split_once(':')?;
        let fields = if algorithm == "sliding_counter" { 4 } else { 3 };
        let (end, _) = key.match_indices(':').nth(fields - 1)?;
        let (mut limit, mut identity) = (&key[..end], &key[end + 1..]);
        if algorithm == "fixed_window" {
            if identity.starts_with("anchored:") {
                (limit, identity) = key.split_at(end + ":anchored".len());
                identity = &identity[1..];
            } else if let Some(aligned) = identity.strip_prefix("aligned:") {
                identity = aligned;
            }
        }
        Some(Self { limit, identity })
    }

    /// Whether it is of these parts and of no others.
    pub(super) fn is(&self, parts: &[Part]) -> bool {
        let mut rest = self.identity;
        let read = several(&mut rest);
        rest.is_empty() && read.is_some_and(|read| are(&read, parts))
    }
}

/// Parts up to the end, or up to a fence.
fn several<'k>(rest: &mut &'k str) -> Option<Vec<Read<'k>>> {
    let mut parts = vec![part(rest)?];
    while let Some(next) = rest.strip_prefix(':') {
        *rest = next;
        parts.push(part(rest)?);
    }
    Some(parts)
}

fn part<'k>(rest: &mut &'k str) -> Option<Read<'k>> {
    if let Some(fenced) = rest.strip_prefix('(') {
        *rest = fenced;
        let parts = several(rest)?;
        *rest = rest.strip_prefix(')')?;
        return Some(Read::Several(parts));
    }
    if let Some(address) = rest.strip_prefix("ip:[") {
        let (address, after) = address.split_once(']')?;
        *rest = after;
        return Some(Read::Address(address));
    }
    let label = word(rest);
    match label.as_bytes().first()? {
        b'~' => Some(Read::StandIn(&label[1..])),
        b'/' => Some(Read::Route(label)),
        _ => {
            *rest = rest.strip_prefix(':')?;
            let value = word(rest);
            Some(if label == "ip" {
                Read::Address(value)
            } else {
                Read::Named { label, value }
            })
        }
    }
}

/// What stands before the next mark.
fn word<'k>(rest: &mut &'k str) -> &'k str {
    let end = rest.find([':', '(', ')']).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    word
}

fn are(read: &[Read<'_>], parts: &[Part]) -> bool {
    read.len() == parts.len() && read.iter().zip(parts).all(|(read, part)| is(read, part))
}

fn is(read: &Read<'_>, part: &Part) -> bool {
    match (read, part) {
        (
            Read::Named { label, value },
            Part::Named {
                label: wanted,
                value: of,
            },
        ) => shows(label, wanted.as_bytes()) && shows(value, of),
        (Read::StandIn(word), Part::StandIn(of)) => shows(word, of.as_bytes()),
        (Read::Route(shown), Part::Route(template)) => match shown.strip_prefix("/#") {
            Some(_) => shows(&shown[1..], template.as_bytes()),
            None => shown.replace('<', "{").replace('>', "}") == *template,
        },
        (Read::Address(address), Part::Address(of)) => address.parse() == Ok(*of),
        (Read::Several(read), Part::Several(parts)) => are(read, parts),
        _ => false,
    }
}

/// Whether a text is this value, or its digest. No value that is shown as it is reads like a digest.
fn shows(text: &str, value: &[u8]) -> bool {
    match text.strip_prefix('#') {
        Some(hexadecimal) => hexadecimal == digest(value),
        None => text.as_bytes() == value,
    }
}
