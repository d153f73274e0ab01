//! Why nobody knows whom a request is counted for.

use std::{borrow::Cow, error, fmt};

/// Why nobody knows whom a request is counted for.
///
/// Return [`missing`](Self::missing) from a key of your own where the client left something out, and
/// [`not_provided`](Self::not_provided) where your service did.
///
/// ```
/// use http::Request;
/// use tollgate::{Key, KeyError, KeyExtractor, Or};
///
/// let tenant = |request: &Request<()>| match request.uri().host() {
///     Some(host) => Ok(Key::named("tenant", host)),
///     None => Err(KeyError::missing("a host")),
/// };
/// let request = Request::get("/").body(())?;
/// assert_eq!(tenant.extract(&request).unwrap_err().to_string(), "the request lacks a host"); // 400
/// // A stand-in takes the place of what a request lacks.
/// assert_eq!(Or::new(tenant, "nobody").extract(&request)?.unwrap().as_str(), "~nobody");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The request lacks what it is counted by, which its sender can put right: HTTP answers 400 and names it.
    #[non_exhaustive]
    Missing {
        /// What it lacks, as in "the `x-user-id` header".
        what: Cow<'static, str>,
    },
    /// The service does not provide what requests are counted by, which its owner has to put right: HTTP answers 500
    /// and says how.
    #[non_exhaustive]
    NotProvided {
        /// What is not there.
        what: Cow<'static, str>,
        /// How to provide it.
        how: Cow<'static, str>,
        /// Whether a request may do without it, so that a stand-in can take its place.
        optional: bool,
    },
}

impl KeyError {
    /// The request lacks `what`, as in "the `x-user-id` header".
    pub fn missing(what: impl Into<Cow<'static, str>>) -> Self {
        Self::Missing { what: what.into() }
    }

    /// The service does not provide `what`; `how` tells its owner what to do about it.
    pub fn not_provided(what: impl Into<Cow<'static, str>>, how: impl Into<Cow<'static, str>>) -> Self {
        let (what, how) = (what.into(), how.into());
        Self::NotProvided {
            what,
            how,
            optional: false,
        }
    }

    /// Nobody put it into the request, perhaps because this one has none.
    pub(super) fn not_inserted(what: impl Into<Cow<'static, str>>, how: impl Into<Cow<'static, str>>) -> Self {
        let (what, how) = (what.into(), how.into());
        Self::NotProvided {
            what,
            how,
            optional: true,
        }
    }

    /// Whether a stand-in may take the place of what is not there.
    pub(crate) fn is_absence(&self) -> bool {
        match self {
            Self::Missing { .. } => true,
            Self::NotProvided { optional, .. } => *optional,
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { what } => write!(f, "the request lacks {what}"),
            Self::NotProvided { what, how, .. } => write!(f, "there is no {what} to count requests by: {how}"),
        }
    }
}

impl error::Error for KeyError {}
