//! The values of the X- headers.

use crate::{
    decision::{Decision, TierDecision},
    time::Micros,
    verdict::RawOutcome,
};

/// The unit of `X-RateLimit-Reset`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResetUnit {
    /// Seconds since the Unix epoch, by the store's clock.
    #[default]
    Epoch,
    /// Seconds from now.
    Delta,
    /// The time from now with its units, in milliseconds: `1m30.5s`, `20ms`. OpenAI's API writes it like this.
    Duration,
}

/// The tiers that headers describe.
pub(super) fn visible(decision: &Decision) -> impl Iterator<Item = &TierDecision> {
    decision.tiers().iter().filter(|tier| tier.is_visible())
}

/// The most restrictive tier for a client: one that can never admit the request, else the one with the longest wait, else the
/// one with the lowest remaining quota.
pub(super) fn most_restrictive(decision: &Decision) -> Option<&TierDecision> {
    visible(decision).min_by_key(|tier| match tier.verdict().outcome {
        RawOutcome::Impossible => (0, 0),
        // A hint is not compared with exact times.
        RawOutcome::Limited { .. } if tier.is_concurrency() => (1, Micros::MAX),
        RawOutcome::Limited { retry_after } => (1, Micros::MAX - retry_after),
        RawOutcome::Admitted { .. } => (2, tier.verdict().remaining()),
    })
}

/// The time until the request would be admitted or, if it was, until the whole quota is available.
pub(super) fn wait(tier: &TierDecision) -> Micros {
    match tier.verdict().outcome {
        RawOutcome::Limited { retry_after } => retry_after,
        RawOutcome::Admitted { .. } | RawOutcome::Impossible => tier.verdict().reset_after,
    }
}
