//! Errors of key extractors.

use std::{borrow::Cow, error, fmt};

/// The reason why a request has no key.
///
/// In your own key extractor, return [`missing`](Self::missing) where the client omitted a value,
/// [`ambiguous`](Self::ambiguous) where it sent several different ones, and [`not_provided`](Self::not_provided) where the
/// service omitted it.
///
/// ```
/// use http::Request;
/// use tollgate::{Key, KeyError, KeyExtractor};
///
/// let tenant = |request: &Request<()>| match request.uri().host() {
///     Some(host) => Ok(Key::named("tenant", host)),
///     None => Err(KeyError::missing("a host")),
/// };
/// let request = Request::get("/").body(())?;
/// assert_eq!(tenant.extract(&request).unwrap_err().to_string(), "the request lacks a host"); // 400
/// // A default key replaces a missing one.
/// assert_eq!(tenant.or("unknown").extract(&request)?.as_str(), "~unknown");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The request lacks a value, which the client can correct: HTTP responds with 400 and names the value.
    #[non_exhaustive]
    Missing {
        /// The missing value, as in "the `x-user-id` header".
        what: Cow<'static, str>,
    },
    /// The request has several different values, of which the handler may use another one than the limit counts: HTTP responds
    /// with 400 and names the value. No default key applies, because a client could choose to be counted by it.
    #[non_exhaustive]
    Ambiguous {
        /// The repeated value, as in "the query parameter `tenant`".
        what: Cow<'static, str>,
    },
    /// The service does not provide a value, which its developer has to correct: HTTP responds with 500 and the remedy,
    /// which for a missing extension is only logged, since it names a type.
    #[non_exhaustive]
    NotProvided {
        /// The missing value.
        what: Cow<'static, str>,
        /// How to provide it.
        how: Cow<'static, str>,
        /// Whether requests may lack it, so that a default key applies.
        optional: bool,
    },
}

impl KeyError {
    /// The request lacks `what`, as in "the `x-user-id` header".
    pub fn missing(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Missing { what: what.into() }
    }

    /// The request has different values for `what`, as in "the query parameter `tenant`". The message is sent to the client: do
    /// not include the values.
    pub fn ambiguous(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Ambiguous { what: what.into() }
    }

    /// The service does not provide `what`; `how` states how to provide it.
    pub fn not_provided(what: impl Into<Cow<'static, str>>, how: impl Into<Cow<'static, str>>) -> Self {
        let (what, how) = (what.into(), how.into());
        Self::NotProvided {
            what,
            how,
            optional: false,
        }
    }

    /// No layer inserted `what` into the request, which may be intended, so a default key applies.
    pub(super) fn not_inserted(what: impl Into<Cow<'static, str>>, how: impl Into<Cow<'static, str>>) -> Self {
        let (what, how) = (what.into(), how.into());
        Self::NotProvided {
            what,
            how,
            optional: true,
        }
    }

    /// Whether a default key applies.
    pub(crate) fn allows_default(&self) -> bool {
        match self {
            Self::Missing { .. } => true,
            Self::Ambiguous { .. } => false,
            Self::NotProvided { optional, .. } => *optional,
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { what } => write!(f, "the request lacks {what}"),
            Self::Ambiguous { what } => write!(f, "the request has different values for {what}"),
            Self::NotProvided { what, how, .. } => write!(f, "there is no {what} to count requests by: {how}"),
        }
    }
}

impl error::Error for KeyError {}
