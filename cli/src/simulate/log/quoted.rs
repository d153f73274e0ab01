//! Quoted fields of access logs. Apache escapes like C, nginx in hexadecimal.

use std::borrow::Cow;

/// Returns the field before the closing quote, and the rest of the line.
pub(super) fn take(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((unescape(&text[..end]), &text[end + 1..]))
}

/// Replaces escape sequences by the bytes they represent.
pub(super) fn unescape(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let mut unescaped = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'\\', [b'x', high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                unescaped.push(16 * hex_digit(*high) + hex_digit(*low));
                rest = after;
            }
            (b'\\', [escaped, after @ ..]) => {
                unescaped.push(control_character(*escaped));
                rest = after;
            }
            _ => unescaped.push(*byte),
        }
    }
    Cow::Owned(unescaped)
}

fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit.to_ascii_lowercase() - b'a' + 10,
    }
}

fn control_character(escaped: u8) -> u8 {
    match escaped {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        other => other,
    }
}
