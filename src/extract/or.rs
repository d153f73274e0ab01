//! Default keys for requests that lack a value.

use super::{KeyError, KeyExtractor};
use crate::key::Key;

/// A key extractor and its default for requests that lack the key. Returned by the extractors' `or` methods.
///
/// ```
/// use http::Request;
/// use tollgate::{Header, Key, KeyExtractor};
///
/// let user = Header::new("x-user-id").or("anonymous");
/// let [without, with] = [Request::builder(), Request::builder().header("x-user-id", "anonymous")];
/// // The default key differs from the key of a client that sends the same text.
/// assert_eq!(user.extract(&without.body(())?)?.unwrap().as_str(), "~anonymous");
/// assert_eq!(user.extract(&with.body(())?)?.unwrap().as_str(), "x-user-id:anonymous");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Or<K, L> {
    first: K,
    default: L,
}

impl<K, L> Or<K, L> {
    /// The key of `first`, or that of `default` when the first is [missing](KeyError::Missing). For closures and your own
    /// extractors, which have no `or`.
    pub fn new(first: K, default: L) -> Self {
        Self { first, default }
    }

    /// Sets the default for requests that lack both.
    pub fn or<M>(self, default: M) -> Or<Self, M> {
        Or::new(self, default)
    }
}

impl<Req, K: KeyExtractor<Req>, L: KeyExtractor<Req>> KeyExtractor<Req> for Or<K, L> {
    fn extract(&self, request: &Req) -> Result<Option<Key>, KeyError> {
        match self.first.extract(request) {
            Err(error) if error.allows_default() => self.default.extract(request),
            key => key,
        }
    }
}

/// A string is a default key, which all requests without another key share: `~anonymous` for `"anonymous"`.
impl<Req> KeyExtractor<Req> for &'static str {
    fn extract(&self, _: &Req) -> Result<Option<Key>, KeyError> {
        Ok(Some(Key::default_key(self)))
    }
}
