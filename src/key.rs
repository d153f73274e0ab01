//! Keys: the identities that limits count by.

use std::{borrow::Cow, fmt, net::Ipv4Addr};

use smol_str::{SmolStr, SmolStrBuilder};

use crate::key_encoding::{self, encode_component, encode_text, is_single_component};

/// The identity that a request is counted by: `ip:192.0.2.1`, `user:12345`, or `global`.
///
/// Keys are equal if their texts are. [`Key::named`] encodes values that clients send, so that different values have different
/// texts: a value that is longer than 64 bytes, or contains anything but letters, digits and `-_.~@+=,|/`, is replaced by its
/// digest. A key of up to 23 bytes is stored inline, and cloning a key never allocates.
///
/// ```
/// use tollgate::Key;
///
/// assert_eq!(Key::named("user", 12345).to_string(), "user:12345");
/// assert_eq!(Key::named("user", "a:b").to_string(), "user:#6783a31eabf68ccc0660f935c0826282");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(SmolStr);

/// The digits of each octet of an address, and dots to make four bytes.
const OCTETS: [[u8; 4]; 256] = {
    let (mut octets, mut octet) = ([*b"...."; 256], 0);
    while octet < octets.len() {
        let digits = [octet / 100, octet / 10 % 10, octet % 10];
        let (mut from, mut to) = ((octet < 100) as usize + (octet < 10) as usize, 0);
        while from < digits.len() {
            octets[octet][to] = b'0' + digits[from] as u8;
            (from, to) = (from + 1, to + 1);
        }
        octet += 1;
    }
    octets
};

impl Key {
    /// The key that all requests share.
    pub const GLOBAL: Self = Self(SmolStr::new_static("global"));

    /// A key with this text, or its digest if the text is unsafe. It may contain colons, so use it for the application's own
    /// text. Pass values from clients to [`named`](Self::named), where they cannot imitate another kind of key.
    pub fn new(identity: impl Into<Cow<'static, str>>) -> Self {
        let identity = identity.into();
        match encode_text(&identity) {
            Cow::Borrowed(_) => Self::verbatim(identity),
            Cow::Owned(digest) => Self(digest.into()),
        }
    }

    /// A key with exactly this text, without encoding. The caller has to ensure that it is unique.
    pub fn verbatim(identity: impl Into<Cow<'static, str>>) -> Self {
        Self(match identity.into() {
            Cow::Borrowed(text) => SmolStr::new_static(text),
            Cow::Owned(text) => text.into(),
        })
    }

    /// `label:value`, where the label is the kind of the value: `user`, `tenant`, `session`.
    pub fn named(label: &str, value: impl fmt::Display) -> Self {
        Self::of_bytes(label, value.to_string().as_bytes())
    }

    /// `label:value`, for a value that need not be UTF-8.
    pub(crate) fn of_bytes(label: &str, value: &[u8]) -> Self {
        let (label, value) = (encode_component(label.as_bytes()), encode_component(value));
        Self::concat([&label, ":", &value])
    }

    /// `~name`, the default key of requests that lack a value. No client can send it.
    pub(crate) fn default_key(name: &str) -> Self {
        Self::concat(["~", &encode_component(name.as_bytes())])
    }

    /// `ip:192.0.2.1`, without `fmt`: it is the key of most requests, and formatting would take ten times as long.
    pub(crate) fn ipv4(address: Ipv4Addr) -> Self {
        // Aligned, so that most of it is checked to be UTF-8 by words.
        #[repr(align(8))]
        struct Text([u8; 19]);
        let (mut text, mut end) = (Text(*b"ip:................"), 3);
        for octet in address.octets() {
            text.0[end..end + 4].copy_from_slice(&OCTETS[usize::from(octet)]);
            end += 2 + usize::from(octet > 9) + usize::from(octet > 99);
        }
        let text = str::from_utf8(&text.0).expect("digits and dots are valid UTF-8");
        Self(SmolStr::new(&text[..end - 1]))
    }

    /// Joins text without allocating for short keys.
    fn concat<const N: usize>(parts: [&str; N]) -> Self {
        let mut text = SmolStrBuilder::new();
        parts.iter().for_each(|part| text.push_str(part));
        Self(text.finish())
    }

    /// A route's template, with `<id>` for `{id}`.
    #[cfg(any(feature = "axum", feature = "rules"))]
    pub(crate) fn route(template: &str) -> Self {
        let plain = template.replace(['{', '}', '*'], "");
        Self::verbatim(match encode_component(plain.as_bytes()) {
            Cow::Borrowed(_) => template.replace('{', "<").replace('}', ">"),
            Cow::Owned(_) => ["/", &encode_component(template.as_bytes())].concat(),
        })
    }

    /// Joins several keys into one that parses back into them unambiguously.
    pub(crate) fn joined(keys: &[Self]) -> Self {
        // Most are short, and need no buffer on the heap.
        let (mut stack, mut len) = ([0; 64], 0);
        for_each_part(keys, |part| {
            if let Some(free) = stack.get_mut(len..len + part.len()) {
                free.copy_from_slice(part.as_bytes());
            }
            len += part.len();
        });
        let Some(text) = stack.get(..len) else {
            let mut text = String::with_capacity(len);
            for_each_part(keys, |part| text.push_str(part));
            return Self(text.into());
        };
        Self(SmolStr::new(str::from_utf8(text).expect("it consists of strings")))
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form in which logs and traces contain the key: the first 16 hexadecimal digits of the SHA-256 of its text.
    ///
    /// `printf %s user:12345 | sha256sum | cut -c1-16` prints the same, so you can search for a key that you know. An attacker
    /// who reads the logs can do so with keys that are easy to guess, such as addresses or small numbers.
    ///
    /// ```
    /// use tollgate::Key;
    ///
    /// assert_eq!(Key::named("user", 12345).digest(), "4e95b893bbbb7c28");
    /// ```
    pub fn digest(&self) -> String {
        let mut digest = key_encoding::digest(self.0.as_bytes());
        digest.truncate(16);
        digest
    }
}

/// The parts of the text of joined keys.
#[inline]
fn for_each_part(keys: &[Key], mut append: impl FnMut(&str)) {
    for (index, Key(key)) in keys.iter().enumerate() {
        if index > 0 {
            append(":");
        }
        match is_single_component(key) {
            true => append(key),
            false => ["(", key, ")"].into_iter().for_each(&mut append),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
