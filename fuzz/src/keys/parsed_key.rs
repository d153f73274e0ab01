//! An independent parser of Redis keys, which knows only how keys are written.

use tollgate::fuzzing::digest;

use super::identity::Part;

pub(super) struct ParsedKey<'k> {
    pub(super) limit: &'k str,
    pub(super) identity: &'k str,
}

/// A part of an identity.
enum ParsedPart<'k> {
    Named { label: &'k str, value: &'k str },
    Default(&'k str),
    Route(&'k str),
    Address(&'k str),
    Tuple(Vec<Self>),
}

impl<'k> ParsedKey<'k> {
    pub(super) fn parse(key: &'k str) -> Option<Self> {
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

    /// Whether the identity consists of exactly these parts.
    pub(super) fn has_parts(&self, parts: &[Part]) -> bool {
        let mut rest = self.identity;
        let parsed = parse_parts(&mut rest);
        rest.is_empty() && parsed.is_some_and(|parsed| parts_match(&parsed, parts))
    }
}

/// Parses parts up to the end of the key or of the tuple.
fn parse_parts<'k>(rest: &mut &'k str) -> Option<Vec<ParsedPart<'k>>> {
    let mut parts = vec![parse_part(rest)?];
    while let Some(next) = rest.strip_prefix(':') {
        *rest = next;
        parts.push(parse_part(rest)?);
    }
    Some(parts)
}

fn parse_part<'k>(rest: &mut &'k str) -> Option<ParsedPart<'k>> {
    if let Some(inner) = rest.strip_prefix('(') {
        *rest = inner;
        let parts = parse_parts(rest)?;
        *rest = rest.strip_prefix(')')?;
        return Some(ParsedPart::Tuple(parts));
    }
    if let Some(address) = rest.strip_prefix("ip:[") {
        let (address, after) = address.split_once(']')?;
        *rest = after;
        return Some(ParsedPart::Address(address));
    }
    let label = parse_token(rest);
    match label.as_bytes().first()? {
        b'~' => Some(ParsedPart::Default(&label[1..])),
        b'/' => Some(ParsedPart::Route(label)),
        _ => {
            *rest = rest.strip_prefix(':')?;
            let value = parse_token(rest);
            Some(if label == "ip" {
                ParsedPart::Address(value)
            } else {
                ParsedPart::Named { label, value }
            })
        }
    }
}

/// Text up to the next delimiter.
fn parse_token<'k>(rest: &mut &'k str) -> &'k str {
    let end = rest.find([':', '(', ')']).unwrap_or(rest.len());
    let (token, after) = rest.split_at(end);
    *rest = after;
    token
}

fn parts_match(parsed: &[ParsedPart<'_>], parts: &[Part]) -> bool {
    parsed.len() == parts.len()
        && parsed
            .iter()
            .zip(parts)
            .all(|(parsed, part)| part_matches(parsed, part))
}

fn part_matches(parsed: &ParsedPart<'_>, part: &Part) -> bool {
    match (parsed, part) {
        (
            ParsedPart::Named { label, value },
            Part::Named {
                label: expected_label,
                value: expected_value,
            },
        ) => encodes(label, expected_label.as_bytes()) && encodes(value, expected_value),
        (ParsedPart::Default(text), Part::Default(expected)) => encodes(text, expected.as_bytes()),
        (ParsedPart::Route(text), Part::Route(template)) => match text.strip_prefix("/#") {
            Some(_) => encodes(&text[1..], template.as_bytes()),
            None => text.replace('<', "{").replace('>', "}") == *template,
        },
        (ParsedPart::Address(text), Part::Address(address)) => text.parse() == Ok(*address),
        (ParsedPart::Tuple(parsed), Part::Tuple(parts)) => parts_match(parsed, parts),
        _ => false,
    }
}

/// Whether a text is this value or its digest. No value that is written verbatim looks like a digest.
fn encodes(text: &str, value: &[u8]) -> bool {
    match text.strip_prefix('#') {
        Some(hexadecimal) => hexadecimal == digest(value),
        None => text.as_bytes() == value,
    }
}
