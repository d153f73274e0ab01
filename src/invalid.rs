//! The one error of everything that can be built wrongly.

use std::{borrow::Cow, error, fmt};

/// A limit, a name or a setting that cannot work: which field, what it was, and what would do.
///
/// ```
/// use tollgate::Quota;
///
/// let error = Quota::try_per_second(0).unwrap_err();
/// assert_eq!(error.field(), "limit");
/// assert_eq!(error.to_string(), "limit = 0: it must be from 1 to 4294967295");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    field: &'static str,
    value: String,
    must: Cow<'static, str>,
}

impl Invalid {
    /// `must` completes the sentence "it must ...".
    pub(crate) fn new(field: &'static str, value: impl fmt::Display, must: impl Into<Cow<'static, str>>) -> Self {
        Self {
            field,
            value: value.to_string(),
            must: must.into(),
        }
    }

    /// The field that is wrong, by the name it has in the API and in rules files.
    pub fn field(&self) -> &str {
        self.field
    }

    /// What it must be, as in "it must ...".
    #[cfg(feature = "rules")]
    pub(crate) fn must(&self) -> &str {
        &self.must
    }

    /// The value it was given.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: it must {}", self.field, self.value, self.must)
    }
}

impl error::Error for Invalid {}

/// The value, or a panic at start-up in the error's own words.
#[track_caller]
pub(crate) fn expect<T>(result: Result<T, Invalid>) -> T {
    match result {
        Ok(value) => value,
        Err(invalid) => panic!("{invalid}"),
    }
}
