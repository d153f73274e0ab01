//! The extractor of a query parameter.

use http::Request;

use super::{
    super::{KeyError, KeyExtractor, Optional, Or},
    single_value::single_value,
};
use crate::key::Key;

/// The value of a query parameter: `query/tenant:acme` for `?tenant=acme`.
///
/// **A client can send any parameter.** Its name and its value are decoded, so that all encodings of a value share one key. A
/// request without the parameter, or with an empty one, is rejected with 400 unless there is a default key. A request with
/// several different values, as in `?tenant=acme&tenant=other`, is always rejected with 400, because the handler might use
/// another one than the limit counts: axum's `Query<HashMap<..>>` contains the last.
///
/// ```
/// use http::Request;
/// use tollgate::{KeyExtractor, QueryParam};
///
/// let request = Request::get("/search?tenant=ac%6De").body(())?;
/// assert_eq!(QueryParam::new("tenant").extract(&request)?.as_str(), "query/tenant:acme");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct QueryParam {
    name: Box<str>,
    label: Box<str>,
}

impl QueryParam {
    /// The parameter with this decoded name.
    pub fn new(name: &str) -> Self {
        // No header name contains a slash, so no header has this label.
        let label = format!("query/{name}").into();
        let name = name.into();
        Self { name, label }
    }

    /// Sets the default for requests without the parameter: a string, or another key extractor.
    pub fn or<K>(self, default: K) -> Or<Self, K> {
        Or::new(self, default)
    }

    /// Lets requests without the parameter pass: this tier does not count them.
    pub fn optional(self) -> Optional<Self> {
        Optional::new(self)
    }
}

impl QueryParam {
    #[cfg(feature = "rules")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The key of a request with this value.
    pub(crate) fn key(&self, value: &[u8]) -> Key {
        Key::of_bytes(&self.label, value)
    }
}

impl<B> KeyExtractor<Request<B>> for QueryParam {
    fn extract(&self, request: &Request<B>) -> Result<Key, KeyError> {
        let query = request.uri().query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        let values = pairs.filter_map(|(name, value)| (*name == *self.name).then_some(value));
        let what = || format!("the query parameter `{}`", self.name);
        match single_value(values, what)? {
            Some(value) => Ok(self.key(value.as_bytes())),
            None => Err(KeyError::missing(what())),
        }
    }
}
