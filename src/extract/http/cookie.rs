//! The value of a cookie.

use http::{Request, header::COOKIE};

use super::super::{KeyError, KeyExtractor, Or};
use crate::key::Key;

/// The value of a cookie: `cookie/session:8f3a`.
///
/// **A client can send any cookie.** Put the layer that verifies sessions outside of this one, or limit addresses too. Values
/// are stored as they are. Of several cookies of the name, the first counts; a request without one, or with an empty one, is
/// refused with 400 unless there is a stand-in.
///
/// ```
/// use http::Request;
/// use tollgate::{Cookie, KeyExtractor};
///
/// let request = Request::builder().header("cookie", "theme=dark; session=8f3a").body(())?;
/// assert_eq!(Cookie::new("session").extract(&request)?.unwrap().as_str(), "cookie/session:8f3a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cookie {
    name: Box<str>,
    label: Box<str>,
}

impl Cookie {
    /// The cookie of this name.
    pub fn new(name: &str) -> Self {
        // No header has a slash in its name, so no header's key reads like this.
        let label = format!("cookie/{name}").into();
        let name = name.into();
        Self { name, label }
    }

    /// What stands in for requests without the cookie: a word, or another key.
    pub fn or<K>(self, otherwise: K) -> Or<Self, K> {
        Or::new(self, otherwise)
    }
}

impl Cookie {
    #[cfg(feature = "rules")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The key of a request that has this value.
    pub(crate) fn key(&self, value: &[u8]) -> Key {
        Key::of_bytes(&self.label, value)
    }
}

impl<B> KeyExtractor<Request<B>> for Cookie {
    fn extract(&self, request: &Request<B>) -> Result<Option<Key>, KeyError> {
        // HTTP/2 may send each cookie in a header of its own.
        let lines = request.headers().get_all(COOKIE).into_iter();
        let mut pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
        match pairs.find_map(|pair| value_of(&self.name, pair)) {
            Some(value) if !value.is_empty() => Ok(Some(self.key(value))),
            _ => Err(KeyError::missing(format!("the cookie `{}`", self.name))),
        }
    }
}

/// The value in `name=value`, without the quotes that it may have, if the name is this one.
fn value_of<'c>(name: &str, pair: &'c [u8]) -> Option<&'c [u8]> {
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    let (found, value) = (pair[..equals].trim_ascii(), pair[equals + 1..].trim_ascii());
    let unquoted = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    (found == name.as_bytes()).then_some(unquoted.unwrap_or(value))
}
