//! The values of rate limit headers, in whole seconds.

use crate::{
    algorithm::AnyAlgorithm,
    decision::{Decision, TierDecision},
    time::Micros,
    verdict::Outcome,
};

const SECOND: Micros = 1_000_000;

/// The unit of `X-RateLimit-Reset`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResetUnit {
    /// Seconds since the Unix epoch, by the store's clock.
    #[default]
    Epoch,
    /// Seconds from now.
    Delta,
}

/// The tiers that headers describe.
pub(super) fn visible(decision: &Decision) -> impl Iterator<Item = &TierDecision> {
    decision.tiers().iter().filter(|tier| tier.is_visible())
}

/// The most restrictive tier for a client: one that can never admit the request, else the one with the longest wait, else the
/// one with the lowest remaining quota.
pub(super) fn most_restrictive(decision: &Decision) -> Option<&TierDecision> {
    visible(decision).min_by_key(|tier| match tier.verdict().outcome() {
        Outcome::Impossible => (0, 0),
        Outcome::Limited { retry_after } => (1, Micros::MAX - retry_after),
        Outcome::Admitted { .. } => (2, tier.verdict().remaining()),
    })
}

/// The seconds until a whole quota is available again, if that is at least one second. For a bucket, the time to refill it.
pub(super) fn window(algorithm: &AnyAlgorithm) -> Option<u64> {
    let quota = algorithm.quota();
    let (capacity, limit) = (u128::from(algorithm.capacity()), u128::from(quota.limit()));
    let span = (capacity * quota.window().as_micros()).div_ceil(limit);
    (span >= SECOND.into()).then(|| span.div_ceil(SECOND.into()) as u64)
}

/// The seconds until more quota is available.
pub(super) fn reset_secs(tier: &TierDecision) -> u64 {
    wait(tier).div_ceil(SECOND)
}

/// The time at which more quota is available.
pub(super) fn reset(tier: &TierDecision, now: Micros, unit: ResetUnit) -> u64 {
    match unit {
        ResetUnit::Epoch => (now + wait(tier)).div_ceil(SECOND),
        ResetUnit::Delta => reset_secs(tier),
    }
}

fn wait(tier: &TierDecision) -> Micros {
    match tier.verdict().outcome() {
        Outcome::Limited { retry_after } => retry_after,
        Outcome::Admitted { .. } | Outcome::Impossible => tier.verdict().reset_after,
    }
}
