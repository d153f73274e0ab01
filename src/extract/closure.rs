//! A closure as a key.

use super::{KeyError, KeyExtractor};
use crate::key::Key;

/// A closure that has to name the type of its request: `|request: &Request| Key::named("user", id(request))`.
#[diagnostic::do_not_recommend]
impl<Req, F, T> KeyExtractor<Req> for F
where
    F: Fn(&Req) -> T,
    T: IntoKey,
{
    fn extract(&self, request: &Req) -> Result<Option<Key>, KeyError> {
        self(request).into_key()
    }
}

/// What a closure may return for a key: a `Key`, an `Option` of one where `None` exempts the request, or a `Result`.
#[diagnostic::on_unimplemented(
    message = "a key's closure cannot return `{Self}`",
    note = "return a `Key`, an `Option<Key>` or a `Result<Option<Key>, KeyError>`"
)]
pub trait IntoKey {
    /// As an extractor returns it.
    fn into_key(self) -> Result<Option<Key>, KeyError>;
}

impl IntoKey for Key {
    fn into_key(self) -> Result<Option<Key>, KeyError> {
        Ok(Some(self))
    }
}

impl<T: IntoKey> IntoKey for Option<T> {
    fn into_key(self) -> Result<Option<Key>, KeyError> {
        self.map_or(Ok(None), T::into_key)
    }
}

impl<T: IntoKey> IntoKey for Result<T, KeyError> {
    fn into_key(self) -> Result<Option<Key>, KeyError> {
        self?.into_key()
    }
}
