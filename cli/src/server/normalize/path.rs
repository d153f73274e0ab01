//! Path normalization.
//!
//! Limits match the path that the upstream serves. If the two interpret it differently, `/%66iles` or `/x/../files` bypasses a
//! limit on `/files`. So both get the normalized path.

use std::{borrow::Cow, fmt::Write};

const BACKSLASH: &str = "The path must not contain a backslash, which some services treat as a slash.";

/// Resolves dot segments, merges slashes, and percent-encodes exactly the characters that need it.
pub(crate) fn normalize_path(path: &str) -> Result<Cow<'_, str>, &'static str> {
    if !path.starts_with('/') {
        return Err("The path must begin with a slash.");
    }
    if path.contains('\\') {
        return Err(BACKSLASH);
    }
    let encoded = normalize_encoding(path)?;
    if encoded.split('/').any(is_dot_segment_with_parameters) {
        return Err("The path must not contain a dot segment with parameters, which some services resolve.");
    }
    match needs_segment_resolution(&encoded) {
        false => Ok(encoded),
        true => Ok(resolve_segments(&encoded).into()),
    }
}

/// Whether a byte is an unencoded `pchar` of RFC 3986.
fn is_pchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}

fn normalize_encoding(path: &str) -> Result<Cow<'_, str>, &'static str> {
    if path.bytes().all(|byte| byte == b'/' || is_pchar(byte)) {
        return Ok(path.into());
    }
    let mut text = String::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        let (is_encoded, byte) = match byte {
            b'%' => (
                true,
                decode_escape(&mut bytes)
                    .ok_or("The path must have two hexadecimal digits after each percent sign.")?,
            ),
            byte => (false, byte),
        };
        if byte == b'\\' {
            return Err(BACKSLASH);
        }
        // An encoded slash belongs to its segment.
        if is_pchar(byte) || (byte == b'/' && !is_encoded) {
            text.push(byte.into());
        } else {
            write!(text, "%{byte:02X}").expect("writing to a string does not fail");
        }
    }
    Ok(text.into())
}

/// Decodes the two hexadecimal digits after a percent sign.
fn decode_escape(bytes: &mut impl Iterator<Item = u8>) -> Option<u8> {
    let mut digit = || char::from(bytes.next()?).to_digit(16);
    let (high, low) = (digit()?, digit()?);
    u8::try_from(high * 16 + low).ok()
}

/// Java's servlet containers remove what follows a semicolon before they resolve dot segments.
fn is_dot_segment_with_parameters(segment: &str) -> bool {
    matches!(segment.split_once(';'), Some(("." | "..", _)))
}

/// Whether the path has a dot segment, or an empty segment before the last.
fn needs_segment_resolution(path: &str) -> bool {
    path.contains("//") || path.split('/').any(|segment| matches!(segment, "." | ".."))
}

fn resolve_segments(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    // A trailing slash is kept.
    let is_directory = path
        .rsplit('/')
        .next()
        .is_none_or(|last| matches!(last, "" | "." | ".."));
    let end = if is_directory && !segments.is_empty() { "/" } else { "" };
    format!("/{}{end}", segments.join("/"))
}
