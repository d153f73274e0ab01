//! Key extractors for any kind of request, with default keys and optional keys.

use std::{fmt, sync::Arc};

use super::error::KeyError;
use crate::key::Key;

/// Extracts the key that a request is counted by.
///
/// A request without a key is rejected: see [`KeyError`]. [`or`](Self::or) sets a default key instead, and with
/// [`optional`](Self::optional) the tier does not count such requests.
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
///     fn extract(&self, job: &Job) -> Result<Key, KeyError> {
///         Ok(Key::named("queue", job.queue))
///     }
/// }
///
/// assert_eq!(Queue.extract(&Job { queue: "mail" })?, Key::new("queue:mail"));
/// # Ok::<(), KeyError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key extractor for `{Req}`",
    label = "not a key extractor for `{Req}`",
    note = "use `Global`, `Header::new(\"x-user-id\")`, `ClientIp::peer()`, a tuple of key extractors, or a closure like \
            `|request: &Request| Some(Key::named(\"user\", id))`",
    note = "a closure names the type of its request or is passed to `key_fn`, and returns a `Key`, an `Option<Key>` or a \
            `Result<Key, KeyError>`"
)]
pub trait KeyExtractor<Req> {
    /// The key of the request, or why it has none.
    fn extract(&self, request: &Req) -> Result<Key, KeyError>;

    /// The key of the request, or `None` if its tier does not count it. Only [`Optional`] returns `None`.
    fn extract_optional(&self, request: &Req) -> Result<Option<Key>, KeyError> {
        self.extract(request).map(Some)
    }

    /// Sets the default for requests without a key: a string, or another key extractor.
    ///
    /// ```
    /// use http::Request;
    /// use tollgate::{Key, KeyExtractor};
    ///
    /// fn tenant(request: &Request<()>) -> Option<Key> {
    ///     request.uri().host().map(|host| Key::named("tenant", host))
    /// }
    /// let request = Request::get("/").body(())?;
    /// assert_eq!(tenant.extract(&request).unwrap_err().to_string(), "the request lacks the key that it is counted by"); // 400
    /// assert_eq!(tenant.or("unknown").extract(&request)?.as_str(), "~unknown");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn or<K>(self, default: K) -> Or<Self, K>
    where
        Self: Sized,
    {
        Or::new(self, default)
    }

    /// Lets requests without a key pass: this tier does not count them, and other tiers still do.
    ///
    /// ```
    /// use http::{Method, Request};
    /// use tollgate::{Key, KeyExtractor};
    ///
    /// let writes = |request: &Request<()>| (request.method() == Method::POST).then_some(Key::GLOBAL);
    /// assert_eq!(writes.optional().extract_optional(&Request::get("/").body(())?)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn optional(self) -> Optional<Self>
    where
        Self: Sized,
    {
        Optional::new(self)
    }
}

/// A function, or a closure that names the type of its request: `|request: &Request| Key::named("user", id(request))`.
///
/// Without the type, the compiler infers a closure for one lifetime only, and reports that the "implementation of `FnOnce` is not general
/// enough" where the layer is used. Name the type, or pass the closure to [`key_fn`](crate::key_fn).
#[diagnostic::do_not_recommend]
impl<Req, F, T> KeyExtractor<Req> for F
where
    F: Fn(&Req) -> T,
    T: IntoKey,
{
    fn extract(&self, request: &Req) -> Result<Key, KeyError> {
        self(request).into_key()
    }
}

/// Return types of closures that extract keys: a `Key`, an `Option` where `None` is a missing key, or a `Result`.
#[diagnostic::on_unimplemented(
    message = "a closure that extracts a key cannot return `{Self}`",
    note = "return a `Key`, an `Option<Key>` or a `Result<Key, KeyError>`"
)]
pub trait IntoKey {
    /// Converts to the return type of [`KeyExtractor::extract`].
    fn into_key(self) -> Result<Key, KeyError>;
}

impl IntoKey for Key {
    fn into_key(self) -> Result<Key, KeyError> {
        Ok(self)
    }
}

impl<T: IntoKey> IntoKey for Option<T> {
    fn into_key(self) -> Result<Key, KeyError> {
        match self {
            Some(key) => key.into_key(),
            // The name of the limit is not added: it may be hidden from clients.
            None => Err(KeyError::missing("the key that it is counted by")),
        }
    }
}

impl<T: IntoKey> IntoKey for Result<T, KeyError> {
    fn into_key(self) -> Result<Key, KeyError> {
        self?.into_key()
    }
}

/// A tuple counts by the combination of its parts, and does not count a request that one of them does not count.
macro_rules! tuple {
    ($($extractor:ident),*) => {
        impl<Req, $($extractor: KeyExtractor<Req>),*> KeyExtractor<Req> for ($($extractor,)*) {
            #[allow(non_snake_case, reason = "each value is named like its type parameter")]
            fn extract(&self, request: &Req) -> Result<Key, KeyError> {
                let ($($extractor,)*) = self;
                Ok(Key::joined(&[$($extractor.extract(request)?),*]))
            }

            #[allow(non_snake_case, reason = "each value is named like its type parameter")]
            fn extract_optional(&self, request: &Req) -> Result<Option<Key>, KeyError> {
                let ($($extractor,)*) = self;
                $(let Some($extractor) = $extractor.extract_optional(request)? else { return Ok(None) };)*
                Ok(Some(Key::joined(&[$($extractor),*])))
            }
        }
    };
}

tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);

/// A key extractor and its default for requests that lack the key. Returned by the extractors' `or` methods.
///
/// ```
/// use http::Request;
/// use tollgate::{Header, Key, KeyExtractor};
///
/// let user = Header::new("x-user-id").or("anonymous");
/// let [without, with] = [Request::builder(), Request::builder().header("x-user-id", "anonymous")];
/// // The default key differs from the key of a client that sends the same text.
/// assert_eq!(user.extract(&without.body(())?)?.as_str(), "~anonymous");
/// assert_eq!(user.extract(&with.body(())?)?.as_str(), "x-user-id:anonymous");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Or<K, L> {
    first: K,
    default: L,
}

impl<K, L> Or<K, L> {
    /// The key of `first`, or that of `default` when the first is [missing](KeyError::Missing).
    pub(crate) fn new(first: K, default: L) -> Self {
        Self { first, default }
    }

    /// Sets the default for requests that lack both.
    pub fn or<M>(self, default: M) -> Or<Self, M> {
        Or::new(self, default)
    }

    /// Lets requests that lack both pass: this tier does not count them.
    pub fn optional(self) -> Optional<Self> {
        Optional::new(self)
    }
}

impl<Req, K: KeyExtractor<Req>, L: KeyExtractor<Req>> KeyExtractor<Req> for Or<K, L> {
    fn extract(&self, request: &Req) -> Result<Key, KeyError> {
        match self.first.extract(request) {
            Err(error) if error.allows_default() => self.default.extract(request),
            key => key,
        }
    }

    fn extract_optional(&self, request: &Req) -> Result<Option<Key>, KeyError> {
        match self.first.extract(request) {
            Err(error) if error.allows_default() => self.default.extract_optional(request),
            key => key.map(Some),
        }
    }
}

/// A key extractor whose tier does not count requests that lack the key. Returned by the extractors' `optional` methods.
///
/// ```
/// use http::Request;
/// use tollgate::{Header, KeyExtractor};
///
/// let tenant = Header::new("x-tenant").optional();
/// assert_eq!(tenant.extract_optional(&Request::new(()))?, None);
/// # Ok::<(), tollgate::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Optional<K>(K);

impl<K> Optional<K> {
    pub(crate) fn new(key: K) -> Self {
        Self(key)
    }
}

impl<Req, K: KeyExtractor<Req>> KeyExtractor<Req> for Optional<K> {
    fn extract(&self, request: &Req) -> Result<Key, KeyError> {
        self.0.extract(request)
    }

    fn extract_optional(&self, request: &Req) -> Result<Option<Key>, KeyError> {
        match self.0.extract_optional(request) {
            Err(error) if error.allows_default() => Ok(None),
            key => key,
        }
    }
}

/// Any key extractor for requests of one type: what [`RateLimitLayer::boxed`](crate::RateLimitLayer::boxed) makes of closures.
pub struct BoxKeyExtractor<Req>(Arc<dyn KeyExtractor<Req> + Send + Sync>);

impl<Req> BoxKeyExtractor<Req> {
    /// Boxes a key extractor.
    pub fn new(key: impl KeyExtractor<Req> + Send + Sync + 'static) -> Self {
        Self(Arc::new(key))
    }
}

impl<Req> KeyExtractor<Req> for BoxKeyExtractor<Req> {
    fn extract(&self, request: &Req) -> Result<Key, KeyError> {
        self.0.extract(request)
    }

    fn extract_optional(&self, request: &Req) -> Result<Option<Key>, KeyError> {
        self.0.extract_optional(request)
    }
}

impl<Req> Clone for BoxKeyExtractor<Req> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Req> fmt::Debug for BoxKeyExtractor<Req> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxKeyExtractor").finish_non_exhaustive()
    }
}

/// One key for all requests: `global`.
///
/// A global limit protects the service from overload. It should be [hidden](crate::Tier::hidden), because its
/// remaining quota shows clients how busy the service is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Global;

impl<Req> KeyExtractor<Req> for Global {
    fn extract(&self, _: &Req) -> Result<Key, KeyError> {
        Ok(Key::GLOBAL)
    }
}

/// A string is a default key, which all requests without another key share: `~anonymous` for `"anonymous"`.
impl<Req> KeyExtractor<Req> for &'static str {
    fn extract(&self, _: &Req) -> Result<Key, KeyError> {
        Ok(Key::default_key(self))
    }
}
