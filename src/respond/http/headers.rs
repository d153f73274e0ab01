//! The headers that tell clients how much is left.

use std::fmt::{self, Write};

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{ResetUnit, fields};
use crate::decision::Decision;

const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Which headers are written, and how.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    /// Limit, remaining and reset of the X- family, if it is written.
    pub(super) names: Option<[HeaderName; 3]>,
    pub(super) reset: ResetUnit,
    pub(super) ietf: bool,
}

impl Default for Headers {
    fn default() -> Self {
        let names = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
        Self {
            names: Some(names.map(HeaderName::from_static)),
            reset: ResetUnit::default(),
            ietf: true,
        }
    }
}

impl Headers {
    pub(super) fn write(&self, decision: &Decision, headers: &mut HeaderMap) {
        if let Some(names) = &self.names {
            write_tightest(names, self.reset, decision, headers);
        }
        if self.ietf {
            write_lists(decision, headers);
        }
    }
}

/// Speaks for one tier, unless an inner layer has already spoken for one with less left.
fn write_tightest(names: &[HeaderName; 3], unit: ResetUnit, decision: &Decision, headers: &mut HeaderMap) {
    let Some(tier) = fields::tightest(decision) else { return };
    let [limit, remaining, reset] = names;
    let left = tier.verdict().remaining();
    let told = headers
        .get(remaining)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    if told.is_some_and(|told: u64| told <= left) {
        return;
    }
    headers.insert(limit, HeaderValue::from(tier.limit().rule().capacity()));
    headers.insert(remaining, HeaderValue::from(left));
    headers.insert(reset, HeaderValue::from(fields::reset(tier, decision.now(), unit)));
}

/// The structured fields of the IETF's draft: lists, so that what inner layers wrote stays beside it.
fn write_lists(decision: &Decision, headers: &mut HeaderMap) {
    let [policy, state] = lists(decision).expect("a string takes what it is given");
    for (name, list) in [(RATELIMIT_POLICY, policy), (RATELIMIT, state)] {
        if let Ok(list) = HeaderValue::try_from(list)
            && !list.is_empty()
        {
            headers.append(name, list);
        }
    }
}

/// A member per tier, of what it allows and of what is left. The names of limits need no escapes.
fn lists(decision: &Decision) -> Result<[String; 2], fmt::Error> {
    let (mut policy, mut state) = (String::new(), String::new());
    for tier in fields::listed(decision) {
        let (name, rule) = (tier.limit().name(), tier.limit().rule());
        let separator = if policy.is_empty() { "" } else { ", " };
        write!(policy, "{separator}\"{name}\";q={}", rule.capacity())?;
        if let Some(window) = fields::window(rule) {
            write!(policy, ";w={window}")?;
        }
        let (left, more_in) = (tier.verdict().remaining(), fields::more_in(tier));
        write!(state, "{separator}\"{name}\";r={left};t={more_in}")?;
    }
    Ok([policy, state])
}
