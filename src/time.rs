//! Time as the whole crate counts it: whole microseconds.

use std::time::Duration;

/// A point in time, in whole microseconds since the Unix epoch, or a span of them.
///
/// Points come from a store's clock and are handed to the pure functions of [`Algorithm`](crate::Algorithm);
/// what users read of a [`Verdict`](crate::Verdict) is a [`Duration`].
pub type Micros = u64;

/// The latest point in time that is told apart from later ones: 2^52 microseconds, in the year 2112.
///
/// It leaves room for the longest window on top and stays below 2^53, where the doubles of Lua end being exact.
pub const END_OF_TIME: Micros = 1 << 52;

/// A duration in whole microseconds, rounded up so that nobody is asked to come back too early.
pub(crate) fn micros(duration: Duration) -> Micros {
    let rounded_up = duration.as_nanos().div_ceil(1000);
    Micros::try_from(rounded_up).unwrap_or(Micros::MAX)
}
