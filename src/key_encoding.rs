//! Encodes the values that clients send as components of keys: verbatim if short and safe, otherwise as a digest.
//!
//! A component of an identity is `label:value`, `/route` or `~default`. Labels are constants in the code; values come from
//! requests. A value is kept verbatim only if it contains no character with a meaning in keys (`:`, the parentheses around
//! nested keys, the `#` of a digest, the braces that Redis Cluster hashes by) and none that is unsafe in a log. Every other
//! value is replaced by its digest, so different values have different texts, and no value can imitate a digest.

use std::{borrow::Cow, fmt::Write};

use sha2::{Digest, Sha256};

/// The maximal length of a verbatim value. A digest is half as long, and stores keep every key in memory.
const MAX_VERBATIM_LEN: usize = 64;

/// Encodes a value as part of a component.
pub(crate) fn encode_component(value: &[u8]) -> Cow<'_, str> {
    encode(value, is_safe)
}

/// Encodes an identity that the application wrote, which may contain colons but cannot be a default key.
pub(crate) fn encode_text(text: &str) -> Cow<'_, str> {
    let is_default_key = text.starts_with('~');
    encode(text.as_bytes(), |byte| {
        !is_default_key && (byte == b':' || is_safe(byte))
    })
}

fn encode(value: &[u8], is_safe: impl Fn(u8) -> bool) -> Cow<'_, str> {
    match str::from_utf8(value) {
        Ok(text) if text.len() <= MAX_VERBATIM_LEN && text.bytes().all(is_safe) => Cow::Borrowed(text),
        _ => Cow::Owned(format!("#{}", digest(value))),
    }
}

fn is_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~@+=,|/".contains(&byte)
}

/// The first half of the SHA-256 of a value, in hexadecimal, as printed by `printf %s VALUE | sha256sum | cut -c1-32`.
pub(crate) fn digest(value: &[u8]) -> String {
    let hash = Sha256::digest(value);
    hash[..16].iter().fold(String::with_capacity(32), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a String is infallible");
        text
    })
}

/// Whether a text is a single component, which needs no parentheses when it is joined with others.
pub(crate) fn is_single_component(text: &str) -> bool {
    let colons = text.bytes().filter(|&byte| byte == b':').count();
    match text.bytes().next() {
        None | Some(b':' | b'(') => false,
        Some(b'/' | b'~') => colons == 0,
        // An IPv6 address in brackets is the only value that contains colons.
        Some(_) => match text.strip_prefix("ip:[").and_then(|address| address.split_once(']')) {
            Some((_, after)) => !after.contains(':'),
            None => colons == 1,
        },
    }
}
