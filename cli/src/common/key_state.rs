//! The state of one key of a limit.

use std::time::Duration;

use serde_json::{Value, json};
use tollgate::{Decision, Limit, RuleSet, TierDecision};

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
        self.full_in().is_zero()
    }

    pub(crate) fn remaining(&self) -> u64 {
        self.0.verdict().remaining()
    }

    /// The time until the full quota is available, if nothing else is charged.
    pub(crate) fn full_in(&self) -> Duration {
        self.0.verdict().reset_after()
    }

    pub(crate) fn to_json(&self) -> Value {
        let (limit, key) = (self.0.limit(), self.0.key());
        json!({
            "limit": limit.name(),
            "identity": key.as_str(),
            "algorithm": limit.algorithm().name(),
            "quota": limit.algorithm().quota().to_string(),
            "remaining": self.remaining(),
            "full_in_us": u64::try_from(self.full_in().as_micros()).unwrap_or(u64::MAX),
        })
    }
}
