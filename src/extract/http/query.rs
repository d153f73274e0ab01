//! A parameter of the query.

use http::Request;

use super::super::{KeyError, KeyExtractor, Or};
use crate::key::Key;

/// The value of a parameter in the query: `query/tenant:acme` for `?tenant=acme`.
///
/// **A client can send any parameter.** It is decoded as handlers see it, so that no other spelling of the same value counts
/// apart; of several, the first counts. A request without it, or with an empty one, is refused with 400 unless there is a
/// stand-in.
///
/// ```
/// use http::Request;
/// use tollgate::{KeyExtractor, QueryParam};
///
/// let request = Request::get("/search?tenant=ac%6De").body(())?;
/// assert_eq!(QueryParam::new("tenant").extract(&request)?.unwrap().as_str(), "query/tenant:acme");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct QueryParam {
    name: Box<str>,
    label: Box<str>,
}

impl QueryParam {
    /// The parameter of this name, as it reads when it is decoded.
    pub fn new(name: &str) -> Self {
        // No header has a slash in its name, so no header's key reads like this.
        let label = format!("query/{name}").into();
        let name = name.into();
        Self { name, label }
    }

    /// What stands in for requests without the parameter: a word, or another key.
    pub fn or<K>(self, otherwise: K) -> Or<Self, K> {
        Or::new(self, otherwise)
    }
}

impl QueryParam {
    #[cfg(feature = "rules")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The key of a request that has this value.
    pub(crate) fn key(&self, value: &[u8]) -> Key {
        Key::of_bytes(&self.label, value)
    }
}

impl<B> KeyExtractor<Request<B>> for QueryParam {
    fn extract(&self, request: &Request<B>) -> Result<Option<Key>, KeyError> {
        let query = request.uri().query().unwrap_or_default();
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        match pairs.find(|(name, _)| *name == *self.name) {
            Some((_, value)) if !value.is_empty() => Ok(Some(self.key(value.as_bytes()))),
            _ => Err(KeyError::missing(format!("the query parameter `{}`", self.name))),
        }
    }
}
