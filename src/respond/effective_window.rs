//! Effective windows: how long a client should take to use what remains.
//!
//! The IETF draft defines the effective window as the time in which no more than what remains may be used, so that a client can keep
//! the rate of what remains per effective window. [`seconds`] is the least number of whole seconds such that
//!
//! - the wait is over: of a denied request, or else until something remains;
//! - and the rate does not exceed the policy's: remaining x window <= quota x effective window. A bucket that is full again in a second
//!   would otherwise invite its client to use all of it in that second, and the same in the next.
//!
//! A fixed window ends all at once, so its effective window is the rest of it.

use crate::{
    algorithm::AnyAlgorithm,
    decision::TierDecision,
    time::{Micros, SECOND},
    verdict::RawOutcome,
};

/// The window of a policy: the seconds in which a whole quota becomes available, rounded up, if that is at least one second. For a bucket,
/// the time to refill it. A concurrency limit has none.
pub(super) fn policy_window(algorithm: &AnyAlgorithm) -> Option<u64> {
    let period = algorithm.quota_period().filter(|period| *period >= SECOND)?;
    Some(period.div_ceil(SECOND))
}

/// What may be used in the effective window. Less than remains in a queue with a maximal wait: it denies requests that would be delayed
/// for longer, even if they fit.
pub(super) fn remaining(tier: &TierDecision) -> u64 {
    let (verdict, algorithm) = (tier.verdict(), tier.limit().algorithm());
    let (Some(max_wait), Some(quota)) = (algorithm.max_wait(), algorithm.quota()) else {
        return verdict.remaining();
    };
    let Some(rest) = max_wait.checked_sub(verdict.reset_after) else {
        return 0;
    };
    let departures = u128::from(rest) * u128::from(quota.limit()) / quota.window().as_micros();
    verdict.remaining().min(1 + departures as u64)
}

/// The effective window in whole seconds, at least 1. A concurrency limit has none: it is not known when a slot becomes free.
pub(super) fn seconds(tier: &TierDecision) -> Option<u64> {
    let (verdict, algorithm) = (tier.verdict(), tier.limit().algorithm());
    if algorithm.is_concurrency() {
        return None;
    }
    let (wait, window) = (wait(tier), policy_window(algorithm).unwrap_or(1));
    if let AnyAlgorithm::FixedWindow(_) = algorithm {
        return Some(match wait.max(verdict.reset_after) {
            0 => window,
            rest => rest.div_ceil(SECOND),
        });
    }
    let pace = pace(remaining(tier), window, algorithm.capacity().into());
    Some(wait.div_ceil(SECOND).max(pace))
}

/// The least time in which `remaining` is no more than `quota` per `window`.
fn pace(remaining: u64, window: u64, quota: u64) -> u64 {
    match remaining.checked_mul(window) {
        Some(product) => product.div_ceil(quota),
        None => (u128::from(remaining) * u128::from(window)).div_ceil(quota.into()) as u64,
    }
}

/// How long a denied request has to wait, or else how long until something may be used if nothing may.
fn wait(tier: &TierDecision) -> Micros {
    let verdict = tier.verdict();
    let max_wait = tier.limit().algorithm().max_wait().unwrap_or(Micros::MAX);
    match verdict.outcome {
        RawOutcome::Limited { retry_after } => retry_after,
        RawOutcome::Admitted { .. } | RawOutcome::Impossible => verdict
            .remaining
            .available_after()
            .max(verdict.reset_after.saturating_sub(max_wait)),
    }
}
