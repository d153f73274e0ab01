//! The value of a header.

use std::borrow::Cow;

use http::{HeaderName, Request};

use super::super::{KeyError, KeyExtractor, Or};
use crate::{
    invalid::{self, Invalid},
    key::Key,
};

/// Labels that other extractors give to keys which a header must not be able to name.
const TAKEN: [&str; 3] = ["ip", "apikey", "method"];

/// The value of a header: `x-user-id:12345`, or `user:12345` with [`label("user")`](Self::label).
///
/// **A client can send any header.** Use it where a proxy sets the header and removes what clients send, or where
/// whoever makes up values only harms themselves.
///
/// A request without it, or with an empty one, is refused with 400 unless there is a stand-in. Of several, the first
/// counts, as it does for handlers.
///
/// ```
/// use tollgate::{ClientIp, Header};
///
/// let anonymous_together = Header::new("x-user-id").or("anonymous");
/// let anonymous_by_address = Header::new("x-user-id").or(ClientIp::peer());
/// # let _ = (anonymous_together, anonymous_by_address);
/// ```
#[derive(Clone, Debug)]
pub struct Header {
    name: HeaderName,
    label: Cow<'static, str>,
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
        let label = match TAKEN.contains(&name.as_str()) {
            true => format!("header.{name}"),
            false => name.to_string(),
        };
        Ok(Self {
            name,
            label: label.into(),
        })
    }

    /// What keys begin with, in place of the header's name.
    #[must_use]
    pub fn label(self, label: impl Into<Cow<'static, str>>) -> Self {
        Self {
            label: label.into(),
            ..self
        }
    }

    /// What stands in for requests without the header: a word, or another key.
    pub fn or<K>(self, otherwise: K) -> Or<Self, K> {
        Or::new(self, otherwise)
    }
}

impl<B> KeyExtractor<Request<B>> for Header {
    fn extract(&self, request: &Request<B>) -> Result<Option<Key>, KeyError> {
        let value = present(request, &self.name)?;
        Ok(Some(Key::of_bytes(&self.label, value)))
    }
}

pub(super) fn header_name(name: &str) -> Result<HeaderName, Invalid> {
    let must = "be the name of a header, like x-user-id";
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| Invalid::new("header", format_args!("{name:?}"), must))
}

/// The first header of this name, unless it is empty.
pub(super) fn present<'r, B>(request: &'r Request<B>, name: &HeaderName) -> Result<&'r [u8], KeyError> {
    let value = request.headers().get(name).map(http::HeaderValue::as_bytes);
    value
        .filter(|value| !value.is_empty())
        .ok_or_else(|| KeyError::missing(format!("the `{name}` header")))
}
