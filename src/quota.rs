//! Quotas: how many requests per window.

use std::{borrow::Cow, fmt, time::Duration};

use crate::{
    config_error::{self, ConfigError},
    time::{Micros, micros},
};

/// What a request is charged: 1 by default. A cost of 0 is decided, but charges nothing.
pub type Cost = u32;

/// The largest count of a window: settling may charge up to twice its limit.
pub(crate) const MAX_COUNT: u64 = 2 * Cost::MAX as u64;

/// Bounds a caller's cost to the largest that limits can count.
pub(crate) fn bounded(cost: u64) -> Cost {
    cost.try_into().unwrap_or(Cost::MAX)
}

/// What a quota counts, for clients: the quota unit (`qu`) of `RateLimit-Policy`. Requests, unless a tier
/// [names another](crate::Tier::quota_unit).
///
/// ```
/// use tollgate::QuotaUnit;
///
/// const TOKENS: QuotaUnit = QuotaUnit::new("tokens");
/// assert_eq!(TOKENS.name(), "tokens");
/// assert!(QuotaUnit::try_new("GPU seconds").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuotaUnit(Cow<'static, str>);

impl QuotaUnit {
    /// Bytes of content, as the IETF draft registers them.
    pub const CONTENT_BYTES: Self = Self(Cow::Borrowed("content-bytes"));

    /// Requests that are served at once, as the IETF draft registers them: the unit of [`Concurrency`](crate::Concurrency).
    pub const CONCURRENT_REQUESTS: Self = Self(Cow::Borrowed("concurrent-requests"));

    /// A unit with a name of 1 to 64 characters of `a-z 0-9 _ . -`. The IETF draft has a registry of names.
    ///
    /// # Panics
    /// If the name is invalid; in a constant at compile time.
    #[track_caller]
    pub const fn new(name: &'static str) -> Self {
        assert!(
            is_word(name),
            "the name of a quota unit must be 1 to 64 of a-z 0-9 _ . -"
        );
        Self(Cow::Borrowed(name))
    }

    /// A unit with a name, or an error if the name is invalid.
    pub fn try_new(name: impl Into<Cow<'static, str>>) -> Result<Self, ConfigError> {
        let name = name.into();
        match is_word(&name) {
            true => Ok(Self(name)),
            false => Err(ConfigError::new("quota_unit", format_args!("{name:?}"), MUST_BE_WORD)),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// What a word has to be that is safe in keys, headers and metrics.
pub(crate) const MUST_BE_WORD: &str = "be 1 to 64 of a-z 0-9 _ . -";

/// Whether a word is safe in keys, headers and metrics.
pub(crate) const fn is_word(word: &str) -> bool {
    let (bytes, mut index) = (word.as_bytes(), 0);
    while index < bytes.len() && matches!(bytes[index], b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-') {
        index += 1;
    }
    index == bytes.len() && 1 <= index && index <= 64
}

/// The maximal window and the maximal `max_wait`: ten years of 365 days.
pub(crate) const MAX_WINDOW: Micros = 10 * 365 * 24 * 60 * 60 * 1_000_000;

/// A number of requests per window.
///
/// `Quota::per_second(5)` is five requests in every second, not one in five seconds. Invalid values fail when the quota is
/// built: in a constant at compile time, otherwise with a panic, or with an error in the `try_` variants.
///
/// ```
/// use std::time::Duration;
/// use tollgate::Quota;
///
/// const LOGINS: Quota = Quota::per_minute(5);
/// assert_eq!(LOGINS, Quota::new(5, Duration::from_secs(60)));
/// assert!(Quota::try_new(5, Duration::ZERO).is_err());
/// ```
///
/// ```compile_fail
/// const ZERO: tollgate::Quota = tollgate::Quota::per_minute(0);
/// # fn main() { let _ = ZERO; }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    limit: u32,
    window: Micros,
}

macro_rules! per {
    ($($name:ident, $try_name:ident, $unit:literal, $seconds:expr;)*) => {$(
        #[doc = concat!("`limit` requests per ", $unit, ".")]
        ///
        /// # Panics
        /// If `limit` is 0.
        #[track_caller]
        pub const fn $name(limit: u32) -> Self {
            assert!(limit > 0, "limit = 0: it must be from 1 to 4294967295");
            Self { limit, window: $seconds * 1_000_000 }
        }

        #[doc = concat!("`limit` requests per ", $unit, ", or an error if `limit` is 0.")]
        pub fn $try_name(limit: u32) -> Result<Self, ConfigError> {
            Self::try_new(limit, Duration::from_secs($seconds))
        }
    )*};
}

impl Quota {
    per! {
        per_second, try_per_second, "second", 1;
        per_minute, try_per_minute, "minute", 60;
        per_hour, try_per_hour, "hour", 60 * 60;
        per_day, try_per_day, "day", 24 * 60 * 60;
    }

    /// `limit` requests per `window`.
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(limit: u32, window: Duration) -> Self {
        config_error::expect(Self::try_new(limit, window))
    }

    /// `limit` requests per `window`: at least one, in a whole number of microseconds up to ten years.
    pub fn try_new(limit: u32, window: Duration) -> Result<Self, ConfigError> {
        at_least_one("limit", limit)?;
        let micros = micros(window);
        if micros == 0 || micros > MAX_WINDOW || Duration::from_micros(micros) != window {
            let must = "be a whole number of microseconds, from 1 to 10 years (315360000 s)";
            return Err(ConfigError::new("window", format_args!("{window:?}"), must));
        }
        Ok(Self { limit, window: micros })
    }

    /// The number of requests.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// The window.
    pub const fn window(&self) -> Duration {
        Duration::from_micros(self.window)
    }

    /// How much of the limit remains.
    pub(crate) fn remaining(&self, used: u64) -> u64 {
        u64::from(self.limit).saturating_sub(used)
    }

    /// The part of `surplus` that can be added to `used`, which never exceeds twice the limit.
    pub(crate) fn bounded_surplus(&self, used: u64, surplus: Cost) -> u64 {
        u64::from(surplus).min((2 * u64::from(self.limit)).saturating_sub(used))
    }

    /// The window in microseconds.
    pub(crate) const fn window_micros(&self) -> Micros {
        self.window
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} per {:?}", self.limit, self.window())
    }
}

/// Checks that a limit, a capacity or a number of sub-windows is not 0.
pub(crate) fn at_least_one(field: &'static str, value: u32) -> Result<u32, ConfigError> {
    match value {
        0 => Err(ConfigError::new(field, value, "be from 1 to 4294967295")),
        _ => Ok(value),
    }
}
