//! How much, in how long.

use std::{fmt, time::Duration};

use crate::{
    invalid::{self, Invalid},
    time::{Micros, micros},
};

/// What a request takes from a limit: 1 unless the caller says otherwise. 0 asks without spending.
pub type Cost = u32;

/// What a caller says of a cost, as far as limits can count.
pub(crate) fn bounded(cost: u64) -> Cost {
    cost.try_into().unwrap_or(Cost::MAX)
}

/// The longest window, and the longest wait: ten years of 365 days.
pub(crate) const LONGEST: Micros = 10 * 365 * 24 * 60 * 60 * 1_000_000;

/// So many requests in so long a window.
///
/// `Quota::per_second(5)` is five requests in every second, never one in five seconds. Wrong values fail when the
/// quota is built: a constant one does not compile, and every constructor has a `try_` twin that returns the error.
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
/// const NOBODY: tollgate::Quota = tollgate::Quota::per_minute(0);
/// # fn main() { let _ = NOBODY; }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    limit: u32,
    window: Micros,
}

macro_rules! per {
    ($($name:ident, $try_name:ident, $unit:literal, $seconds:expr;)*) => {$(
        #[doc = concat!("`limit` requests a ", $unit, ".")]
        ///
        /// # Panics
        /// When `limit` is 0.
        pub const fn $name(limit: u32) -> Self {
            assert!(limit > 0, "limit = 0: it must be from 1 to 4294967295");
            Self { limit, window: $seconds * 1_000_000 }
        }

        #[doc = concat!("`limit` requests a ", $unit, ", or an error when that is 0.")]
        pub fn $try_name(limit: u32) -> Result<Self, Invalid> {
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

    /// `limit` requests in every `window`.
    ///
    /// # Panics
    /// Where [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(limit: u32, window: Duration) -> Self {
        invalid::expect(Self::try_new(limit, window))
    }

    /// `limit` requests in every `window`: at least one, in a whole number of microseconds up to ten years.
    pub fn try_new(limit: u32, window: Duration) -> Result<Self, Invalid> {
        at_least_one("limit", limit)?;
        let micros = micros(window);
        if micros == 0 || micros > LONGEST || Duration::from_micros(micros) != window {
            let must = "be a whole number of microseconds, from 1 to 10 years (315360000 s)";
            return Err(Invalid::new("window", format_args!("{window:?}"), must));
        }
        Ok(Self { limit, window: micros })
    }

    /// How many requests.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// In how long a time.
    pub const fn window(&self) -> Duration {
        Duration::from_micros(self.window)
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

/// The check that limits, capacities and sub-windows share.
pub(crate) fn at_least_one(field: &'static str, value: u32) -> Result<u32, Invalid> {
    match value {
        0 => Err(Invalid::new(field, value, "be from 1 to 4294967295")),
        _ => Ok(value),
    }
}
