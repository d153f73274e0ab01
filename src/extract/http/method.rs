//! The extractor of a request's method, and methods as matchers.

use http::{Method, Request};

use super::super::{KeyError, KeyExtractor, Matcher};
use crate::key::Key;

/// The request's method: `method:GET`. Use it in a tuple, like `(Header::new("x-user-id"), HttpMethod)`.
///
/// All methods that HTTP does not define share the key `method:other`, because a client can invent any number of them.
///
/// ```
/// use http::Request;
/// use tollgate::{Header, HttpMethod, KeyExtractor};
///
/// let request = Request::post("/notes").header("x-user-id", "ann").body(())?;
/// let by_user_and_method = (Header::new("x-user-id"), HttpMethod);
/// assert_eq!(by_user_and_method.extract(&request)?.as_str(), "x-user-id:ann:method:POST");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HttpMethod;

/// The keys of the methods that HTTP defines, the most frequent ones first.
const KEYS: [&str; 10] = [
    "method:GET",
    "method:POST",
    "method:PUT",
    "method:DELETE",
    "method:HEAD",
    "method:OPTIONS",
    "method:CONNECT",
    "method:PATCH",
    "method:TRACE",
    "method:QUERY",
];

impl<B> KeyExtractor<Request<B>> for HttpMethod {
    fn extract(&self, request: &Request<B>) -> Result<Key, KeyError> {
        Ok(Self::key(request.method().as_str()))
    }
}

impl HttpMethod {
    /// The key of a request with this method.
    pub(crate) fn key(method: &str) -> Key {
        let key = KEYS.into_iter().find(|key| key["method:".len()..] == *method);
        Key::verbatim(key.unwrap_or("method:other"))
    }
}

/// Matches requests with this method.
impl<B> Matcher<Request<B>> for Method {
    fn matches(&self, request: &Request<B>) -> Result<bool, KeyError> {
        Ok(request.method() == self)
    }
}
