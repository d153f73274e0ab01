//! Replaces `enabled` without the feature `metrics`.
#![expect(clippy::unused_self, reason = "the signatures are those of `enabled`")]

use std::time::Duration;

use super::{DecisionSource, RequestOutcome, TierOutcome};
#[cfg(feature = "redis")]
use super::{StoreCallOutcome, UnitOutcome};

pub(crate) const ARE_ENABLED: bool = false;

pub(crate) fn describe() {}

pub(crate) fn count_request(_: RequestOutcome, _: DecisionSource) {}

pub(crate) fn memory_keys(_: usize, _: usize) {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LimitMetrics;

impl LimitMetrics {
    pub(crate) fn new(_: &str) -> Self {
        Self
    }

    pub(crate) fn count_decision(&self, _: TierOutcome) {}

    pub(crate) fn count_shadow_denial(&self) {}

    pub(crate) fn record_wait(&self, _: Duration) {}

    #[cfg(feature = "redis")]
    pub(crate) fn count_cached_denial(&self) {}

    #[cfg(feature = "redis")]
    pub(crate) fn count_lease(&self) {}

    #[cfg(feature = "redis")]
    pub(crate) fn count_leased_units(&self, _: UnitOutcome, _: u32) {}
}

#[cfg(feature = "redis")]
pub(crate) struct StoreCallTimer;

#[cfg(feature = "redis")]
impl StoreCallTimer {
    pub(crate) fn start() -> Self {
        Self
    }

    pub(crate) fn stop(self, _: Option<StoreCallOutcome>) {}
}

#[cfg(feature = "redis")]
pub(crate) fn batch_size(_: usize) {}

#[cfg(feature = "redis")]
pub(crate) fn count_local_request() {}

#[cfg(feature = "redis")]
pub(crate) fn count_shed(_: usize) {}

#[cfg(feature = "redis")]
pub(crate) fn circuit_breaker(_: &str, _: isize) {}
