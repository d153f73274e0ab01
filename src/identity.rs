//! How what a client sends becomes text in a key: as it is when that is short and harmless, else as a digest.
//!
//! A part of an identity is `label:value`, `/route` or `~stand-in`. Labels are words of the code; values come from
//! requests. A value is kept readable only if it has none of the characters that mean something in a key (`:`, the
//! parentheses around parts, the `#` of a digest, the braces that Redis Cluster hashes by) and none that would garble a
//! log. Whatever else it is, it becomes its digest, so two values never share a text and no value can pass for a digest.

use std::{borrow::Cow, fmt::Write};

use sha2::{Digest, Sha256};

/// The longest value that is kept as it is. A digest is half as long, and every key is held by the store.
const LONGEST: usize = 64;

/// The text of a value inside a part.
pub(crate) fn readable(value: &[u8]) -> Cow<'_, str> {
    shown(value, is_harmless)
}

/// The text of a whole identity that somebody else wrote, where colons are parts of the text. A stand-in it cannot be.
pub(crate) fn readable_whole(text: &str) -> Cow<'_, str> {
    let is_stand_in = text.starts_with('~');
    shown(text.as_bytes(), |byte| {
        !is_stand_in && (byte == b':' || is_harmless(byte))
    })
}

fn shown(value: &[u8], harmless: impl Fn(u8) -> bool) -> Cow<'_, str> {
    match str::from_utf8(value) {
        Ok(text) if text.len() <= LONGEST && text.bytes().all(harmless) => Cow::Borrowed(text),
        _ => Cow::Owned(format!("#{}", digest(value))),
    }
}

fn is_harmless(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~@+=,|/".contains(&byte)
}

/// The first half of the SHA-256 of a value, in hexadecimal: what `printf VALUE | sha256sum | cut -c1-32` prints.
pub(crate) fn digest(value: &[u8]) -> String {
    let hash = Sha256::digest(value);
    hash[..16].iter().fold(String::with_capacity(32), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes what it is given");
        text
    })
}

/// Whether a text is one part by itself, so that it can stand beside others without a fence around it.
pub(crate) fn is_one_part(text: &str) -> bool {
    let colons = text.bytes().filter(|&byte| byte == b':').count();
    match text.bytes().next() {
        None | Some(b':' | b'(') => false,
        Some(b'/' | b'~') => colons == 0,
        // An address in brackets is the one value with colons of its own.
        Some(_) => match text.strip_prefix("ip:[").and_then(|address| address.split_once(']')) {
            Some((_, after)) => !after.contains(':'),
            None => colons == 1,
        },
    }
}
