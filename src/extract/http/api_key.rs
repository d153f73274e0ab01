//! An API key, which nobody but its owner should ever see.

use http::{HeaderName, HeaderValue, Request, header::AUTHORIZATION};

use super::{
    super::{KeyError, KeyExtractor, Or},
    header::{header_name, present},
};
use crate::{
    identity::digest,
    invalid::{self, Invalid},
    key::Key,
};

/// An API key, counted by its digest: `apikey:5e884898da28047151d0e56f8dc62927`.
///
/// The key itself is neither stored nor logged. Its digest is the first half of its SHA-256, so that
/// `printf KEY | sha256sum | cut -c1-32` finds a key's limit; it hides a key that is long and random, not one that can be
/// guessed.
///
/// **A client can send any key.** Put the layer that verifies keys outside of this one, or limit addresses too.
///
/// ```
/// use http::Request;
/// use tollgate::{ApiKey, KeyExtractor};
///
/// let request = Request::builder().header("authorization", "Bearer password").body(())?;
/// let key = ApiKey::bearer().extract(&request)?.unwrap();
/// assert_eq!(key.as_str(), "apikey:5e884898da28047151d0e56f8dc62927");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ApiKey(Source);

#[derive(Clone, Debug)]
enum Source {
    Header(HeaderName),
    Bearer,
}

impl ApiKey {
    /// The value of a header, like `x-api-key`.
    ///
    /// # Panics
    /// When no header can be called that.
    #[track_caller]
    pub fn header(name: &str) -> Self {
        invalid::expect(Self::try_header(name))
    }

    /// The value of a header, or an error when no header can be called that.
    pub fn try_header(name: &str) -> Result<Self, Invalid> {
        header_name(name).map(|name| Self(Source::Header(name)))
    }

    /// The token of `Authorization: Bearer <token>`.
    pub fn bearer() -> Self {
        Self(Source::Bearer)
    }

    /// What stands in for requests without a key: a word, or another key.
    pub fn or<K>(self, otherwise: K) -> Or<Self, K> {
        Or::new(self, otherwise)
    }
}

impl ApiKey {
    /// The name of the header that it is in.
    pub(crate) fn name(&self) -> &HeaderName {
        match &self.0 {
            Source::Header(name) => name,
            Source::Bearer => &AUTHORIZATION,
        }
    }

    /// The key of a request whose header has this value.
    pub(crate) fn of(&self, value: Option<&HeaderValue>) -> Result<Key, KeyError> {
        let value = present(self.name(), value);
        let secret = match &self.0 {
            Source::Header(_) => value?,
            Source::Bearer => value
                .ok()
                .and_then(bearer_token)
                .ok_or_else(|| KeyError::missing("an `authorization` header with a bearer token"))?,
        };
        Ok(Self::key(secret))
    }

    /// The key of a request that has this secret.
    pub(crate) fn key(secret: &[u8]) -> Key {
        Key::of_bytes("apikey", digest(secret).as_bytes())
    }
}

impl<B> KeyExtractor<Request<B>> for ApiKey {
    fn extract(&self, request: &Request<B>) -> Result<Option<Key>, KeyError> {
        self.of(request.headers().get(self.name())).map(Some)
    }
}

/// The scheme is known by its letters, not by their case.
fn bearer_token(authorization: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = authorization.split_at_checked("bearer ".len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}
