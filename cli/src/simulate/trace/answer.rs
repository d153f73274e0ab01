//! What is said of one request, in the order in which it is read.

use std::time::Duration;

use serde::Serialize;
use tollgate::{Decision, KeyError, Micros, Tier};

#[derive(Serialize)]
pub(super) struct Answer<'a> {
    admitted: bool,
    delay_us: Micros,
    limits: Vec<Told<'a>>,
}

#[derive(Serialize)]
struct Told<'a> {
    name: &'a str,
    outcome: &'static str,
    remaining: u64,
    retry_after_us: Option<Micros>,
    reset_after_us: Micros,
}

/// Of a request that nobody can be charged for.
#[derive(Serialize)]
pub(super) struct Unanswered {
    admitted: bool,
    error: String,
}

impl<'a> Answer<'a> {
    pub(super) fn of(decision: &'a Decision) -> Self {
        Self {
            admitted: decision.admits(),
            delay_us: micros(decision.delay()),
            limits: decision.tiers().iter().map(Told::of).collect(),
        }
    }
}

impl<'a> Told<'a> {
    fn of(tier: &'a Tier) -> Self {
        let verdict = tier.verdict();
        Self {
            name: tier.limit().name(),
            outcome: verdict.outcome().name(),
            remaining: verdict.remaining(),
            retry_after_us: verdict.retry_after().map(micros),
            reset_after_us: micros(verdict.reset_after()),
        }
    }
}

impl Unanswered {
    pub(super) fn of(error: &KeyError) -> Self {
        Self {
            admitted: false,
            error: error.to_string(),
        }
    }
}

fn micros(duration: Duration) -> Micros {
    duration.as_micros() as Micros
}
