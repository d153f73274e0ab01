//! The extractor of API keys, which stores and logs must not contain.

use http::{HeaderName, HeaderValue, Request, header::AUTHORIZATION};

use super::{
    super::{KeyError, KeyExtractor, Optional, Or},
    header::{header_name, header_value},
    single_value::single_value,
};
use crate::{
    config_error::{self, ConfigError},
    key::Key,
    key_encoding::digest,
};

/// An API key, counted by its digest: `apikey:5e884898da28047151d0e56f8dc62927`.
///
/// The key itself is neither stored nor logged. Its digest is the first half of its SHA-256, as
/// `printf KEY | sha256sum | cut -c1-32` prints it. The digest protects long random keys, not keys that can be guessed.
///
/// **A client can send any key.** Add the layer that verifies keys outside of this one, or limit addresses too. A request with
/// several different keys is rejected with 400, as by [`Header`](crate::Header).
///
/// To find the state of an API key, compute its digest in the same way: `tollgate peek --rules FILE --store URL --limit NAME --key
/// apikey=SECRET` does so locally and shows what is left, for a limit in code too, if the file has the same limit. The key in Redis is
/// that of the limit, with `apikey:` and the digest at its end: `RedisStore::redis_key` returns it.
///
/// ```
/// use http::Request;
/// use tollgate::{ApiKey, KeyExtractor};
///
/// let request = Request::builder().header("authorization", "Bearer password").body(())?;
/// let key = ApiKey::bearer().extract(&request)?;
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
    /// If the name is not a valid header name.
    #[track_caller]
    pub fn header(name: &str) -> Self {
        config_error::expect(Self::try_header(name))
    }

    /// The value of a header, or an error if the name is not a valid header name.
    pub fn try_header(name: &str) -> Result<Self, ConfigError> {
        header_name(name).map(|name| Self(Source::Header(name)))
    }

    /// The token of `Authorization: Bearer <token>`.
    pub fn bearer() -> Self {
        Self(Source::Bearer)
    }

    /// Sets the default for requests without a key: a string, or another key extractor.
    pub fn or<K>(self, default: K) -> Or<Self, K> {
        Or::new(self, default)
    }

    /// Lets requests without a key pass: this tier does not count them.
    pub fn optional(self) -> Optional<Self> {
        Optional::new(self)
    }
}

impl ApiKey {
    /// The name of the header that contains the key.
    pub(crate) fn name(&self) -> &HeaderName {
        match &self.0 {
            Source::Header(name) => name,
            Source::Bearer => &AUTHORIZATION,
        }
    }

    /// The key of a request whose header has these values.
    pub(crate) fn header_key<'r>(&self, values: impl Iterator<Item = &'r HeaderValue>) -> Result<Key, KeyError> {
        let secret = match &self.0 {
            Source::Header(name) => header_value(name, values)?,
            // A header with another scheme has an empty token, which differs from all others.
            Source::Bearer => {
                let tokens = values.map(|value| bearer_token(value.as_bytes()).unwrap_or_default());
                single_value(tokens, || "the `authorization` header".into())?
                    .ok_or_else(|| KeyError::missing("an `authorization` header with a bearer token"))?
            }
        };
        Ok(Self::key(secret))
    }

    /// The key of a request with this secret.
    pub(crate) fn key(secret: &[u8]) -> Key {
        Key::of_bytes("apikey", digest(secret).as_bytes())
    }
}

impl<B> KeyExtractor<Request<B>> for ApiKey {
    fn extract(&self, request: &Request<B>) -> Result<Key, KeyError> {
        self.header_key(request.headers().get_all(self.name()).into_iter())
    }
}

/// The token of a header whose scheme is `Bearer`, in any case.
fn bearer_token(authorization: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = authorization.split_at_checked("bearer ".len())?;
    let token = token.trim_ascii();
    (scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty()).then_some(token)
}
