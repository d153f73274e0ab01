//! The value of a header.

use http::{HeaderName, HeaderValue, Request};

use super::{
    super::{KeyError, KeyExtractor, Optional, Or},
    single_value::single_value,
};
use crate::{
    config_error::{self, ConfigError},
    key::Key,
};

/// Labels and label prefixes of other extractors, whose keys a header must not be able to imitate.
const RESERVED_LABELS: [&str; 3] = ["ip", "apikey", "method"];
const RESERVED_PREFIXES: [&str; 2] = ["query/", "cookie/"];

/// The value of a header: `x-user-id:12345`, or `user:12345` with [`label("user")`](Self::label).
///
/// **A client can send any header.** Use it if a proxy sets the header and removes values from clients, or if a client that
/// forges values only harms itself.
///
/// A request without the header, or with an empty value, is rejected with 400 unless there is a default key. A request with
/// several lines of the header that differ is always rejected with 400, because the handler might use another one than the limit
/// counts, and a proxy may have appended its value to that of the client. For a header that is a list, use a closure. Values are
/// stored unhashed: for secrets, use [`ApiKey`](crate::ApiKey).
///
/// ```
/// use http::Request;
/// use tollgate::{ClientIp, Header, KeyExtractor};
///
/// let user = Header::new("x-user-id").label("user");
/// let request = Request::builder().header("x-user-id", "12345").body(())?;
/// assert_eq!(user.extract(&request)?.as_str(), "user:12345");
/// assert!(user.extract(&Request::new(())).is_err());
///
/// let anonymous_together = user.clone().or("anonymous");
/// assert_eq!(anonymous_together.extract(&Request::new(()))?.as_str(), "~anonymous");
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
    /// The header with this name.
    ///
    /// # Panics
    /// If the name is not a valid header name.
    #[track_caller]
    pub fn new(name: &str) -> Self {
        config_error::expect(Self::try_new(name))
    }

    /// The header with this name, or an error if it is not a valid header name.
    pub fn try_new(name: &str) -> Result<Self, ConfigError> {
        let name = header_name(name)?;
        let label = unreserved_label(name.as_str());
        Ok(Self { name, label })
    }

    /// Sets the prefix of keys, which is the header's name by default: `user` for `user:12345`.
    ///
    /// `ip`, `apikey`, `method` and labels that start with `query/` or `cookie/` are reserved for other extractors, whose keys a
    /// header must not be able to imitate. They are prefixed with `header/`, as in `header/ip`.
    #[must_use]
    pub fn label(self, label: &str) -> Self {
        Self {
            label: unreserved_label(label),
            ..self
        }
    }

    /// Sets the default for requests without the header: a string, or another key extractor.
    pub fn or<K>(self, default: K) -> Or<Self, K> {
        Or::new(self, default)
    }

    /// Lets requests without the header pass: this tier does not count them.
    pub fn optional(self) -> Optional<Self> {
        Optional::new(self)
    }
}

impl Header {
    #[cfg(feature = "rules")]
    pub(crate) fn name(&self) -> &HeaderName {
        &self.name
    }

    /// The key of a request whose header has these values.
    pub(crate) fn header_key<'r>(&self, values: impl Iterator<Item = &'r HeaderValue>) -> Result<Key, KeyError> {
        header_value(&self.name, values).map(|value| self.key(value))
    }

    /// The key of a request with this value.
    pub(crate) fn key(&self, value: &[u8]) -> Key {
        Key::of_bytes(&self.label, value)
    }
}

impl<B> KeyExtractor<Request<B>> for Header {
    fn extract(&self, request: &Request<B>) -> Result<Key, KeyError> {
        self.header_key(request.headers().get_all(&self.name).into_iter())
    }
}

/// Prefixes a reserved label. No header name contains a slash, so no other header has the prefixed label.
fn unreserved_label(label: &str) -> Box<str> {
    match RESERVED_LABELS.contains(&label) || RESERVED_PREFIXES.iter().any(|prefix| label.starts_with(prefix)) {
        true => format!("header/{label}").into(),
        false => label.into(),
    }
}

/// Parses a header's name.
pub(crate) fn header_name(name: &str) -> Result<HeaderName, ConfigError> {
    let must = "be the name of a header, like x-user-id";
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| ConfigError::new("header", format_args!("{name:?}"), must))
}

/// The value of a header, or an error if it is missing, empty or ambiguous.
pub(super) fn header_value<'r>(
    name: &HeaderName,
    values: impl Iterator<Item = &'r HeaderValue>,
) -> Result<&'r [u8], KeyError> {
    let what = || format!("the `{name}` header");
    single_value(values.map(HeaderValue::as_bytes), what)?.ok_or_else(|| KeyError::missing(what()))
}
