//! What windows have in common: a count, and a limit to it.

use crate::quota::Cost;

/// What is left of `limit` after `used`.
pub(super) fn remaining(limit: u32, used: u64) -> u64 {
    u64::from(limit).saturating_sub(used)
}

/// How much of `surplus` may be added to `used`, which never grows beyond twice the limit.
pub(super) fn bounded_surplus(limit: u32, used: u64, surplus: Cost) -> u64 {
    u64::from(surplus).min((2 * u64::from(limit)).saturating_sub(used))
}
