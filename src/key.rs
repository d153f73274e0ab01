//! Whom a limit counts.

use std::{borrow::Cow, fmt};

/// Whom a request is counted for: `ip:192.0.2.1`, `user:12345`, or everybody.
///
/// Two keys are one exactly when their text is the same.
///
/// ```
/// use tollgate::Key;
///
/// assert_eq!(Key::new("user:12345").to_string(), "user:12345");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(Cow<'static, str>);

impl Key {
    /// The one key that everybody shares.
    pub const GLOBAL: Self = Self(Cow::Borrowed("global"));

    /// A key of this text.
    pub fn new(identity: impl Into<Cow<'static, str>>) -> Self {
        Self(identity.into())
    }

    /// The key's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
