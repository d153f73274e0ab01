//! What a tier says of itself in headers, in whole seconds.

use crate::{
    algorithm::Rule,
    decision::{Decision, Tier},
    time::Micros,
    verdict::Outcome,
};

const SECOND: Micros = 1_000_000;

/// How `X-RateLimit-Reset` tells a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResetUnit {
    /// Seconds since the Unix epoch, by the store's clock.
    #[default]
    Epoch,
    /// Seconds from now.
    Delta,
}

/// The tiers that clients are told of.
pub(super) fn listed(decision: &Decision) -> impl Iterator<Item = &Tier> {
    decision.tiers().iter().filter(|tier| tier.is_listed())
}

/// The tier that matters most to a client: one that will never do, else the longest wait, else the least left.
pub(super) fn tightest(decision: &Decision) -> Option<&Tier> {
    listed(decision).min_by_key(|tier| match tier.verdict().outcome() {
        Outcome::Impossible => (0, 0),
        Outcome::Limited { retry_after } => (1, Micros::MAX - retry_after),
        Outcome::Admitted { .. } => (2, tier.verdict().remaining()),
    })
}

/// In how many seconds a whole quota comes back, unless that is less than one. For a bucket, that is to fill it.
pub(super) fn window(rule: &Rule) -> Option<u64> {
    let quota = rule.quota();
    let (capacity, limit) = (u128::from(rule.capacity()), u128::from(quota.limit()));
    let span = (capacity * quota.window().as_micros()).div_ceil(limit);
    (span >= SECOND.into()).then(|| span.div_ceil(SECOND.into()) as u64)
}

/// In how many seconds there is more to be had.
pub(super) fn more_in(tier: &Tier) -> u64 {
    wait(tier).div_ceil(SECOND)
}

/// When there is more to be had.
pub(super) fn reset(tier: &Tier, now: Micros, unit: ResetUnit) -> u64 {
    match unit {
        ResetUnit::Epoch => (now + wait(tier)).div_ceil(SECOND),
        ResetUnit::Delta => more_in(tier),
    }
}

fn wait(tier: &Tier) -> Micros {
    match tier.verdict().outcome() {
        Outcome::Limited { retry_after } => retry_after,
        Outcome::Admitted { .. } | Outcome::Impossible => tier.verdict().reset_after,
    }
}
