//! The extractor of a value in a request's extensions.

use std::{any::type_name, fmt, marker::PhantomData};

use http::Request;

use super::super::{IntoKey, KeyError, KeyExtractor, Optional, Or};
use crate::key::Key;

/// A value from the request's extensions, such as the user that an outer layer authenticated.
///
/// That layer has to be outside of this one: with axum's `Router::layer`, add it later. A request without the value is rejected
/// with 500, as an error of the service, unless there is a default key.
///
/// ```
/// use http::Request;
/// use tollgate::{ClientIp, FromExtension, Key, KeyExtractor};
///
/// #[derive(Clone)]
/// struct CurrentUser {
///     id: u64,
/// }
///
/// // Anonymous clients are counted by address.
/// let user = FromExtension::new(|user: &CurrentUser| Key::named("user", user.id)).or(ClientIp::peer());
///
/// let request = Request::builder().extension(CurrentUser { id: 12345 }).body(())?;
/// assert_eq!(user.extract(&request)?, Key::new("user:12345"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FromExtension<T, F> {
    read: F,
    value: PhantomData<fn(&T)>,
}

impl<T, F, V> FromExtension<T, F>
where
    F: Fn(&T) -> V,
    V: IntoKey,
{
    /// Extracts the key with `read` from the extension of type `T`.
    pub fn new(read: F) -> Self {
        Self {
            read,
            value: PhantomData,
        }
    }

    /// Sets the default for requests without the value: a string, or another key extractor.
    pub fn or<K>(self, default: K) -> Or<Self, K> {
        Or::new(self, default)
    }

    /// Lets requests without the value pass: this tier does not count them.
    pub fn optional(self) -> Optional<Self> {
        Optional::new(self)
    }
}

impl<B, T, F, V> KeyExtractor<Request<B>> for FromExtension<T, F>
where
    T: Clone + Send + Sync + 'static,
    F: Fn(&T) -> V,
    V: IntoKey,
{
    fn extract(&self, request: &Request<B>) -> Result<Key, KeyError> {
        match request.extensions().get() {
            Some(value) => (self.read)(value).into_key(),
            None => Err(KeyError::not_inserted(
                format!("`{}` in the request's extensions", type_name::<T>()),
                "put the layer that inserts it outside of the rate limit, or set a default key with .or(..)",
            )),
        }
    }
}

impl<T, F: Clone> Clone for FromExtension<T, F> {
    fn clone(&self) -> Self {
        Self {
            read: self.read.clone(),
            value: PhantomData,
        }
    }
}

impl<T, F> fmt::Debug for FromExtension<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FromExtension<{}>", type_name::<T>())
    }
}
