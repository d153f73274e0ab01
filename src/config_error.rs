//! The error of invalid limits, names and settings.

use std::{borrow::Cow, error, fmt};

/// An invalid limit, name or setting: the field, its value, and what is valid.
///
/// ```
/// use tollgate::Quota;
///
/// let error = Quota::try_per_second(0).unwrap_err();
/// assert_eq!(error.field(), "limit");
/// assert_eq!(error.to_string(), "limit = 0: it must be from 1 to 4294967295");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    field: &'static str,
    value: String,
    must: Cow<'static, str>,
}

impl ConfigError {
    /// `must` completes the sentence "it must ...".
    pub(crate) fn new(field: &'static str, value: impl fmt::Display, must: impl Into<Cow<'static, str>>) -> Self {
        Self {
            field,
            value: value.to_string(),
            must: must.into(),
        }
    }

    /// The invalid field, by its name in the API and in rules files.
    pub fn field(&self) -> &str {
        self.field
    }

    /// What is valid, as the end of the sentence "it must ...".
    #[cfg(feature = "rules")]
    pub(crate) fn must(&self) -> &str {
        &self.must
    }

    /// The invalid value.
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: it must {}", self.field, self.value, self.must)
    }
}

impl error::Error for ConfigError {}

/// The value, or a panic with the error's message.
#[track_caller]
pub(crate) fn expect<T>(result: Result<T, ConfigError>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}
