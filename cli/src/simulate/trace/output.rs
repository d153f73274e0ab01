//! The output about one request. Fields are printed in this order.

use std::time::Duration;

use serde::Serialize;
use tollgate::{Decision, KeyError, Micros, TierDecision};

#[derive(Serialize)]
pub(super) struct DecisionLine<'a> {
    admitted: bool,
    delay_us: Micros,
    limits: Vec<LimitResult<'a>>,
}

#[derive(Serialize)]
struct LimitResult<'a> {
    name: &'a str,
    outcome: &'static str,
    remaining: u64,
    retry_after_us: Option<Micros>,
    /// `None` for a concurrency limit: it is not known when all slots are free.
    reset_after_us: Option<Micros>,
}

/// For a request without the key that a limit counts by.
#[derive(Serialize)]
pub(super) struct KeyErrorLine {
    admitted: bool,
    error: String,
}

impl<'a> DecisionLine<'a> {
    pub(super) fn new(decision: &'a Decision) -> Self {
        Self {
            admitted: decision.admits(),
            delay_us: micros(decision.delay()),
            limits: decision.tiers().iter().map(LimitResult::new).collect(),
        }
    }
}

impl<'a> LimitResult<'a> {
    fn new(tier: &'a TierDecision) -> Self {
        let verdict = tier.verdict();
        Self {
            name: tier.limit().name(),
            outcome: verdict.outcome().name(),
            remaining: verdict.remaining(),
            retry_after_us: verdict.retry_after().map(micros),
            reset_after_us: tier.limit().algorithm().quota().map(|_| micros(verdict.reset_after())),
        }
    }
}

impl KeyErrorLine {
    pub(super) fn new(error: &KeyError) -> Self {
        Self {
            admitted: false,
            error: error.to_string(),
        }
    }
}

fn micros(duration: Duration) -> Micros {
    duration.as_micros() as Micros
}
