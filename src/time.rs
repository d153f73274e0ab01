//! Time in whole microseconds.

use std::time::Duration;

/// A timestamp in whole microseconds since the Unix epoch, or a duration in microseconds.
///
/// A store reads timestamps from its clock and passes them to the pure functions of [`Algorithm`](crate::Algorithm). The
/// methods of [`Verdict`](crate::Verdict) return a [`Duration`].
pub type Micros = u64;

pub(crate) const SECOND: Micros = 1_000_000;

/// The maximal timestamp, to which clocks saturate: 2^52 microseconds, in the year 2112.
///
/// A timestamp plus the longest window stays below 2^53, the limit of exact integers in Lua's doubles.
pub const MAX_TIMESTAMP: Micros = 1 << 52;

/// A duration in whole microseconds, rounded up so that no client retries too early.
pub(crate) fn micros(duration: Duration) -> Micros {
    let rounded_up = duration.as_nanos().div_ceil(1000);
    Micros::try_from(rounded_up).unwrap_or(Micros::MAX)
}
