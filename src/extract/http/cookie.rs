//! The extractor of a cookie's value.

use std::borrow::Cow;

use http::{Request, header::COOKIE};
use percent_encoding::percent_decode;

use super::{
    super::{KeyError, KeyExtractor, Optional, Or},
    single_value::single_value,
};
use crate::key::Key;

/// The value of a cookie: `cookie/session:8f3a`.
///
/// **A client can send any cookie.** Add the layer that verifies sessions outside of this one, or limit addresses too. Names and
/// values are percent-decoded, as axum-extra's `CookieJar` does, so that all encodings of a value share one key. Values are
/// stored unhashed. A request without the cookie, or with an empty one, is rejected with 400 unless there is a default key.
///
/// A request with several different values is always rejected with 400, because the handler might use another one than the limit
/// counts. **A sibling domain can cause that**: `other.example.com` can plant a cookie of the same name for `example.com` or a
/// path of it, and browsers then send both. Give the cookie a name that begins with `__Host-`: browsers accept it only from the
/// host itself, with `Secure`, with `Path=/` and without `Domain`.
///
/// ```
/// use http::Request;
/// use tollgate::{Cookie, KeyExtractor};
///
/// let request = Request::builder().header("cookie", "theme=dark; session=8f3a").body(())?;
/// assert_eq!(Cookie::new("session").extract(&request)?.as_str(), "cookie/session:8f3a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cookie {
    name: Box<str>,
    label: Box<str>,
}

impl Cookie {
    /// The cookie with this name.
    pub fn new(name: &str) -> Self {
        // No header name contains a slash, so no header has this label.
        let label = format!("cookie/{name}").into();
        let name = name.into();
        Self { name, label }
    }

    /// Sets the default for requests without the cookie: a string, or another key extractor.
    pub fn or<K>(self, default: K) -> Or<Self, K> {
        Or::new(self, default)
    }

    /// Lets requests without the cookie pass: this tier does not count them.
    pub fn optional(self) -> Optional<Self> {
        Optional::new(self)
    }
}

impl Cookie {
    #[cfg(feature = "rules")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The key of a request with this value, as a browser sends it.
    #[cfg(feature = "rules")]
    pub(crate) fn key(&self, value: &[u8]) -> Key {
        Key::of_bytes(&self.label, &decoded_value(value))
    }
}

impl<B> KeyExtractor<Request<B>> for Cookie {
    fn extract(&self, request: &Request<B>) -> Result<Key, KeyError> {
        // HTTP/2 may send each cookie in a separate header line.
        let lines = request.headers().get_all(COOKIE).into_iter();
        let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
        let what = || format!("the cookie `{}`", self.name);
        match single_value(pairs.filter_map(|pair| value_of(&self.name, pair)), what)? {
            Some(value) => Ok(Key::of_bytes(&self.label, &value)),
            None => Err(KeyError::missing(what())),
        }
    }
}

/// The decoded value in `name=value`, if the name matches, as it is or decoded.
fn value_of<'c>(name: &str, pair: &'c [u8]) -> Option<Cow<'c, [u8]>> {
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    let (found, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
    let is_name = found == name.as_bytes() || percent_decode(found).eq(name.bytes());
    is_name.then(|| decoded_value(value))
}

/// A value without escapes and quotes.
fn decoded_value(value: &[u8]) -> Cow<'_, [u8]> {
    match percent_decode(value).into() {
        Cow::Borrowed(value) => Cow::Borrowed(unquoted(value)),
        Cow::Owned(value) => Cow::Owned(unquoted(&value).to_vec()),
    }
}

fn unquoted(value: &[u8]) -> &[u8] {
    let inner = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    inner.unwrap_or(value)
}
