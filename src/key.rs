//! Whom a limit counts.

use std::{borrow::Cow, fmt, net::Ipv4Addr};

use smol_str::{SmolStr, SmolStrBuilder};

use crate::{
    digits,
    identity::{self, is_one_part, readable, readable_whole},
};

/// Whom a request is counted for: `ip:192.0.2.1`, `user:12345`, or everybody.
///
/// Two keys are one exactly when their text is the same. [`Key::named`] makes one of what a client sends: whatever that is,
/// no two values share a text, since what is longer than 64 bytes, or holds anything but letters, digits and
/// `-_.~@+=,|/`, is replaced by its digest. A key of up to 23 bytes is not on the heap, and no clone ever copies one there.
///
/// ```
/// use tollgate::Key;
///
/// assert_eq!(Key::named("user", 12345).to_string(), "user:12345");
/// assert_eq!(Key::named("user", "a:b").to_string(), "user:#6783a31eabf68ccc0660f935c0826282");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(SmolStr);

impl Key {
    /// The one key that everybody shares.
    pub const GLOBAL: Self = Self(SmolStr::new_static("global"));

    /// A key of this text, or of its digest. Colons may be in it, so it is for text of your own: what clients send
    /// belongs into [`named`](Self::named), where it cannot pass for another kind of key.
    pub fn new(identity: impl Into<Cow<'static, str>>) -> Self {
        let identity = identity.into();
        match readable_whole(&identity) {
            Cow::Borrowed(_) => Self::verbatim(identity),
            Cow::Owned(digest) => Self(digest.into()),
        }
    }

    /// A key of exactly this text, whatever it is.
    pub fn verbatim(identity: impl Into<Cow<'static, str>>) -> Self {
        Self(match identity.into() {
            Cow::Borrowed(text) => SmolStr::new_static(text),
            Cow::Owned(text) => text.into(),
        })
    }

    /// `label:value`, where the label says what kind of value it is: `user`, `tenant`, `session`.
    pub fn named(label: &str, value: impl fmt::Display) -> Self {
        Self::of_bytes(label, value.to_string().as_bytes())
    }

    /// The same, of a value that need not be text.
    pub(crate) fn of_bytes(label: &str, value: &[u8]) -> Self {
        let (label, value) = (readable(label.as_bytes()), readable(value));
        Self::of_pieces([&label, ":", &value])
    }

    /// What stands in where there is nothing to count by. No client can send it.
    pub(crate) fn stand_in(word: &str) -> Self {
        Self::of_pieces(["~", &readable(word.as_bytes())])
    }

    /// `ip:192.0.2.1`, written digit by digit: it is the key of most requests, and formatting would take ten times as long.
    pub(crate) fn ipv4(address: Ipv4Addr) -> Self {
        let (mut text, mut end) = (*b"ip:...............", 3);
        for octet in address.octets() {
            for digit in digits::below_1000(octet.into()).bytes() {
                text[end] = digit;
                end += 1;
            }
            end += 1; // past the dot that is there
        }
        let text = str::from_utf8(&text[..end - 1]).expect("digits and dots are text");
        Self(SmolStr::new(text))
    }

    /// Written piece by piece, so that what is short is never on the heap.
    fn of_pieces<const N: usize>(pieces: [&str; N]) -> Self {
        let mut text = SmolStrBuilder::new();
        pieces.iter().for_each(|piece| text.push_str(piece));
        Self(text.finish())
    }

    /// The template of a route, with `<id>` for `{id}`.
    #[cfg(any(feature = "axum", feature = "rules"))]
    pub(crate) fn route(template: &str) -> Self {
        let plain = template.replace(['{', '}', '*'], "");
        Self::verbatim(match readable(plain.as_bytes()) {
            Cow::Borrowed(_) => template.replace('{', "<").replace('}', ">"),
            Cow::Owned(_) => ["/", &readable(template.as_bytes())].concat(),
        })
    }

    /// Several keys as one, each of which can be told from the text.
    pub(crate) fn joined(keys: &[Self]) -> Self {
        let mut text = SmolStrBuilder::new();
        for (index, Self(key)) in keys.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { ":" });
            match is_one_part(key) {
                true => text.push_str(key),
                false => ["(", key, ")"].iter().for_each(|piece| text.push_str(piece)),
            }
        }
        Self(text.finish())
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What logs and traces show in its place: the first 16 digits of the SHA-256 of its text.
    ///
    /// So whoever knows a key finds it there: `printf %s user:12345 | sha256sum | cut -c1-16` prints the same. And so does whoever
    /// guesses it, which is easy where keys are addresses or small numbers.
    ///
    /// ```
    /// use tollgate::Key;
    ///
    /// assert_eq!(Key::named("user", 12345).digest(), "4e95b893bbbb7c28");
    /// ```
    pub fn digest(&self) -> String {
        let mut digest = identity::digest(self.0.as_bytes());
        digest.truncate(16);
        digest
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_as_it_displays() {
        for octet in 0..=255 {
            let address = Ipv4Addr::new(octet, 0, 255 - octet, octet / 3);
            assert_eq!(Key::ipv4(address).as_str(), format!("ip:{address}"));
        }
    }
}
