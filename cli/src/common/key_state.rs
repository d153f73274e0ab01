//! The state of one key of a limit.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate::{AnyAlgorithm, Decision, Limit, RuleSet, TierDecision};

/// Finds a limit by name, with the quota of a plan. The error lists the existing limits.
pub(crate) fn find_limit(rules: &RuleSet, name: &str, plan: Option<&str>) -> Result<Limit, String> {
    let limits = rules.limits();
    if !limits.iter().any(|limit| limit.name() == name) {
        let names: Vec<_> = limits.iter().map(Limit::name).collect();
        let names = names.join(", ");
        return Err(format!("there is no limit {name:?}; the limits are {names}"));
    }
    let limit = rules.limit(name, plan);
    limit.ok_or_else(|| format!("the limit {name:?} has no plan {:?}", plan.unwrap_or_default()))
}

/// The state of a key, from a decision with a single tier.
pub(crate) struct KeyState<'d>(&'d TierDecision);

impl<'d> KeyState<'d> {
    pub(crate) fn new(decision: &'d Decision) -> Self {
        Self(&decision.tiers()[0])
    }

    /// Whether the key has its full quota.
    pub(crate) fn is_unused(&self) -> bool {
        match self.held() {
            Some(held) => held == 0,
            None => self.0.verdict().reset_after().is_zero(),
        }
    }

    pub(crate) fn remaining(&self) -> u64 {
        self.0.verdict().remaining()
    }

    /// What is held of a concurrency limit; the limit if more is held, after it was lowered.
    pub(crate) fn held(&self) -> Option<u64> {
        match self.0.limit().algorithm() {
            AnyAlgorithm::Concurrency(_) => Some(self.capacity().saturating_sub(self.remaining())),
            _ => None,
        }
    }

    /// The time until the full quota is available, if nothing else is charged; `None` for a concurrency limit, since it is not known when a
    /// request ends.
    pub(crate) fn full_in(&self) -> Option<Duration> {
        match self.held() {
            Some(_) => None,
            None => Some(self.0.verdict().reset_after()),
        }
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.0.limit().algorithm().capacity().into()
    }

    pub(crate) fn to_json(&self) -> Value {
        let (limit, key) = (self.0.limit(), self.0.key());
        let mut json = json!({
            "limit": limit.name(),
            "identity": key.as_str(),
            "algorithm": limit.algorithm().name(),
            "quota": limit.algorithm().allowance(),
            "remaining": self.remaining(),
        });
        if let Some(full_in) = self.full_in() {
            json["full_in_us"] = u64::try_from(full_in.as_micros()).unwrap_or(u64::MAX).into();
        }
        if let Some(held) = self.held() {
            json["held"] = held.into();
        }
        json
    }
}
