//! One way to write a path.
//!
//! Limits are asked about a path, and the service answers it: if the two read it differently, whoever writes `/%66iles` or
//! `/x/../files` gets past the limit of `/files`. So both get the same text, and one that everybody reads alike.

use std::{borrow::Cow, fmt::Write};

/// The path without dots and doubled slashes, with nothing escaped but what has to be, and all of that; or what is wrong with it.
pub(crate) fn plain(path: &str) -> Result<Cow<'_, str>, &'static str> {
    if !path.starts_with('/') {
        return Err("The path must begin with a slash.");
    }
    if path.contains('\\') {
        return Err("The path must not contain a backslash: some take it for a slash.");
    }
    let escaped = escaped_as_needed(path)?;
    match has_odd_segments(&escaped) {
        false => Ok(escaped),
        true => Ok(resolved(&escaped).into()),
    }
}

/// Whether it stands for itself in a segment of a path (RFC 3986 calls it a pchar).
fn stands_for_itself(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}

fn escaped_as_needed(path: &str) -> Result<Cow<'_, str>, &'static str> {
    if path.bytes().all(|byte| byte == b'/' || stands_for_itself(byte)) {
        return Ok(path.into());
    }
    let mut text = String::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        let (is_escaped, byte) = match byte {
            b'%' => (
                true,
                escape(&mut bytes).ok_or("The path must have two hexadecimal digits after each percent sign.")?,
            ),
            byte => (false, byte),
        };
        // A slash that is escaped is part of a segment.
        if stands_for_itself(byte) || (byte == b'/' && !is_escaped) {
            text.push(byte.into());
        } else {
            write!(text, "%{byte:02X}").expect("a text takes any text");
        }
    }
    Ok(text.into())
}

/// What the two digits say that come next.
fn escape(bytes: &mut impl Iterator<Item = u8>) -> Option<u8> {
    let mut digit = || char::from(bytes.next()?).to_digit(16);
    let (high, low) = (digit()?, digit()?);
    u8::try_from(high * 16 + low).ok()
}

/// Whether a segment is empty, but for the last one, or nothing but dots.
fn has_odd_segments(path: &str) -> bool {
    path.contains("//") || path.split('/').any(|segment| matches!(segment, "." | ".."))
}

fn resolved(path: &str) -> String {
    let mut kept = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    // A folder stays one.
    let ends_in_a_folder = path
        .rsplit('/')
        .next()
        .is_none_or(|last| matches!(last, "" | "." | ".."));
    let end = if ends_in_a_folder && !kept.is_empty() { "/" } else { "" };
    format!("/{}{end}", kept.join("/"))
}
