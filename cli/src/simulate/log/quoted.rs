//! What clients sent, as servers write it down: Apache escapes as C does, nginx in hexadecimal.

use std::borrow::Cow;

/// What is before the closing quote, and what is after it.
pub(super) fn take(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((plain(&text[..end]), &text[end + 1..]))
}

/// As it was sent.
pub(super) fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'\\', [b'x', high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                plain.push(16 * digit(*high) + digit(*low));
                rest = after;
            }
            (b'\\', [escaped, after @ ..]) => {
                plain.push(character(*escaped));
                rest = after;
            }
            _ => plain.push(*byte),
        }
    }
    Cow::Owned(plain)
}

fn digit(hexadecimal: u8) -> u8 {
    match hexadecimal {
        b'0'..=b'9' => hexadecimal - b'0',
        _ => hexadecimal.to_ascii_lowercase() - b'a' + 10,
    }
}

fn character(escaped: u8) -> u8 {
    match escaped {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        itself => itself,
    }
}
