//! Key extractors for any kind of request.

use super::error::KeyError;
use crate::key::Key;

/// Extracts the key that a request is counted by.
///
/// `Ok(None)` exempts the request from this tier; the other tiers still apply. An error rejects it: see [`KeyError`].
///
/// Implement it for your own type where a closure is not enough. Pass values from clients to [`Key::named`].
///
/// ```
/// use tollgate::{Key, KeyError, KeyExtractor};
///
/// /// A request need not be an HTTP request.
/// struct Job {
///     queue: &'static str,
/// }
///
/// #[derive(Clone)]
/// struct Queue;
///
/// impl KeyExtractor<Job> for Queue {
///     fn extract(&self, job: &Job) -> Result<Option<Key>, KeyError> {
///         Ok((job.queue != "urgent").then(|| Key::named("queue", job.queue))) // urgent jobs are exempt
///     }
/// }
///
/// assert_eq!(Queue.extract(&Job { queue: "mail" })?, Some(Key::new("queue:mail")));
/// assert_eq!(Queue.extract(&Job { queue: "urgent" })?, None);
/// # Ok::<(), KeyError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key extractor for `{Req}`",
    label = "not a key extractor for `{Req}`",
    note = "use `Global`, `Header::new(\"x-user-id\")`, `ClientIp::peer()`, a tuple of key extractors, or a closure like \
            `|request: &Request| Some(Key::named(\"user\", id))`",
    note = "a closure has to name the type of its request, and returns a `Key`, an `Option<Key>` or a \
            `Result<Option<Key>, KeyError>`"
)]
pub trait KeyExtractor<Req> {
    /// The key of the request, or `None` to exempt it from this tier.
    fn extract(&self, request: &Req) -> Result<Option<Key>, KeyError>;
}

/// A closure, which has to name the type of its request: `|request: &Request| Key::named("user", id(request))`.
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

/// Return types of closures that extract keys: a `Key`, an `Option` where `None` exempts the request, or a `Result`.
#[diagnostic::on_unimplemented(
    message = "a closure that extracts a key cannot return `{Self}`",
    note = "return a `Key`, an `Option<Key>` or a `Result<Option<Key>, KeyError>`"
)]
pub trait IntoKey {
    /// Converts to the return type of [`KeyExtractor::extract`].
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

/// A tuple counts by the combination of its parts, and exempts a request that one of them exempts.
macro_rules! tuple {
    ($($extractor:ident),*) => {
        impl<Req, $($extractor: KeyExtractor<Req>),*> KeyExtractor<Req> for ($($extractor,)*) {
            #[allow(non_snake_case, reason = "each value is named like its type parameter")]
            fn extract(&self, request: &Req) -> Result<Option<Key>, KeyError> {
                let ($($extractor,)*) = self;
                $(let Some($extractor) = $extractor.extract(request)? else { return Ok(None) };)*
                Ok(Some(Key::joined(&[$($extractor),*])))
            }
        }
    };
}

tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);

/// One key for all requests: `global`.
///
/// A global limit protects the service from overload. It should be [hidden](crate::RateLimitLayer::hidden), because its
/// remaining quota shows clients how busy the service is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Global;

impl<Req> KeyExtractor<Req> for Global {
    fn extract(&self, _: &Req) -> Result<Option<Key>, KeyError> {
        Ok(Some(Key::GLOBAL))
    }
}
