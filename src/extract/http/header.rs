//! The value of a header.

use http::{HeaderName, HeaderValue, Request};

use super::super::{KeyError, KeyExtractor, Or};
use crate::{
    invalid::{self, Invalid},
    key::Key,
};

/// Labels, and beginnings of labels, of other extractors, whose keys a header must not be able to name.
const TAKEN: [&str; 3] = ["ip", "apikey", "method"];
const BEGIN: [&str; 2] = ["query/", "cookie/"];

/// The value of a header: `x-user-id:12345`, or `user:12345` with [`label("user")`](Self::label).
///
/// **A client can send any header.** Use it where a proxy sets the header and removes what clients send, or where
/// whoever makes up values only harms themselves.
///
/// A request without it, or with an empty one, is refused with 400 unless there is a stand-in. Of several, the first
/// counts, as it does for handlers. Values are stored as they are: for secrets, there is [`ApiKey`](crate::ApiKey).
///
/// ```
/// use http::Request;
/// use tollgate::{ClientIp, Header, KeyExtractor};
///
/// let user = Header::new("x-user-id").label("user");
/// let request = Request::builder().header("x-user-id", "12345").body(())?;
/// assert_eq!(user.extract(&request)?.unwrap().as_str(), "user:12345");
/// assert!(user.extract(&Request::new(())).is_err());
///
/// let anonymous_together = user.clone().or("anonymous");
/// assert_eq!(anonymous_together.extract(&Request::new(()))?.unwrap().as_str(), "~anonymous");
/// let anonymous_by_address = user.or(ClientIp::peer());
/// # let _ = KeyExtractor::<Request<()>>::extract(&anonymous_by_address, &request)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Header {
    name: HeaderName,
    label: Box<str>,
}

impl Header {
    /// The header of this name.
    ///
    /// # Panics
    /// When no header can be called that.
    #[track_caller]
    pub fn new(name: &str) -> Self {
        invalid::expect(Self::try_new(name))
    }

    /// The header of this name, or an error when no header can be called that.
    pub fn try_new(name: &str) -> Result<Self, Invalid> {
        let name = header_name(name)?;
        let label = own_label(name.as_str());
        Ok(Self { name, label })
    }

    /// What keys begin with, in place of the header's name: `user` for `user:12345`.
    ///
    /// `ip`, `apikey` and `method` are the labels of other extractors, whose keys a header must not name, and so is what begins
    /// with `query/` or `cookie/`; with them, keys begin with `header/ip` and so on.
    #[must_use]
    pub fn label(self, label: &str) -> Self {
        Self {
            label: own_label(label),
            ..self
        }
    }

    /// What stands in for requests without the header: a word, or another key.
    pub fn or<K>(self, otherwise: K) -> Or<Self, K> {
        Or::new(self, otherwise)
    }
}

impl Header {
    /// The header's name.
    #[cfg(feature = "rules")]
    pub(crate) fn name(&self) -> &HeaderName {
        &self.name
    }

    /// The key of a request whose header has this value.
    pub(crate) fn of(&self, value: Option<&HeaderValue>) -> Result<Key, KeyError> {
        present(&self.name, value).map(|value| self.key(value))
    }

    /// The key of a request that has this value.
    pub(crate) fn key(&self, value: &[u8]) -> Key {
        Key::of_bytes(&self.label, value)
    }
}

impl<B> KeyExtractor<Request<B>> for Header {
    fn extract(&self, request: &Request<B>) -> Result<Option<Key>, KeyError> {
        self.of(request.headers().get(&self.name)).map(Some)
    }
}

/// No header has a slash in its name, so no other header reads like this.
fn own_label(label: &str) -> Box<str> {
    match TAKEN.contains(&label) || BEGIN.iter().any(|taken| label.starts_with(taken)) {
        true => format!("header/{label}").into(),
        false => label.into(),
    }
}

/// A header's name, or an error that says what is wrong with it.
pub(crate) fn header_name(name: &str) -> Result<HeaderName, Invalid> {
    let must = "be the name of a header, like x-user-id";
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| Invalid::new("header", format_args!("{name:?}"), must))
}

/// The value of a header, unless it is empty.
pub(super) fn present<'r>(name: &HeaderName, value: Option<&'r HeaderValue>) -> Result<&'r [u8], KeyError> {
    let value = value.map(HeaderValue::as_bytes);
    value
        .filter(|value| !value.is_empty())
        .ok_or_else(|| KeyError::missing(format!("the `{name}` header")))
}
