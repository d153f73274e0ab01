//! What stands in when there is nothing to count by.

use super::{KeyError, KeyExtractor};
use crate::key::Key;

/// A key, and what stands in when the request does not have it. Made by the `or` of the extractors.
///
/// ```
/// use http::Request;
/// use tollgate::{Header, Key, KeyExtractor};
///
/// let user = Header::new("x-user-id").or("anonymous");
/// let [nobody, somebody] = [Request::builder(), Request::builder().header("x-user-id", "anonymous")];
/// // A stand-in is nobody who could have sent that very word.
/// assert_eq!(user.extract(&nobody.body(())?)?.unwrap().as_str(), "~anonymous");
/// assert_eq!(user.extract(&somebody.body(())?)?.unwrap().as_str(), "x-user-id:anonymous");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Or<K, L> {
    first: K,
    otherwise: L,
}

impl<K, L> Or<K, L> {
    /// The first, and the other one when the first is [missing](KeyError::Missing). For closures and extractors of your
    /// own, which have no `or`.
    pub fn new(first: K, otherwise: L) -> Self {
        Self { first, otherwise }
    }

    /// What stands in when neither is there.
    pub fn or<M>(self, otherwise: M) -> Or<Self, M> {
        Or::new(self, otherwise)
    }
}

impl<Req, K: KeyExtractor<Req>, L: KeyExtractor<Req>> KeyExtractor<Req> for Or<K, L> {
    fn extract(&self, request: &Req) -> Result<Option<Key>, KeyError> {
        match self.first.extract(request) {
            Err(error) if error.is_absence() => self.otherwise.extract(request),
            found => found,
        }
    }
}

/// A word is a key that all share who have no other. It reads `~word`.
impl<Req> KeyExtractor<Req> for &'static str {
    fn extract(&self, _: &Req) -> Result<Option<Key>, KeyError> {
        Ok(Some(Key::stand_in(self)))
    }
}
