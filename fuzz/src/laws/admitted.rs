//! What one key was granted, and the bound on that.

use tollgate::{Micros, Rule};

use super::traffic::window;

/// Admissions of one key, each at its time. What was given back is none.
#[derive(Default)]
pub(super) struct Admitted {
    granted: Vec<(Micros, u64)>,
    latest: Micros,
    went_back: bool,
    corrected: bool,
}

impl Admitted {
    /// Something was granted, and is known by this number. A clock that goes back is taken for one that stands still.
    pub(super) fn grant(&mut self, now: Micros, cost: u64) -> usize {
        // What costs nothing leaves no trace.
        if cost > 0 {
            self.see(now);
        }
        self.granted.push((self.latest, cost));
        self.granted.len() - 1
    }

    /// All but so much of it was given back. What it cost beyond that is no admission.
    pub(super) fn correct(&mut self, now: Micros, number: usize, cost: u64) {
        self.see(now);
        self.corrected = true;
        if let Some((_, granted)) = self.granted.get_mut(number) {
            *granted = cost.min(*granted);
        }
    }

    fn see(&mut self, now: Micros) {
        self.went_back |= now < self.latest;
        self.latest = self.latest.max(now);
    }

    /// No span, wherever it begins, holds more than the algorithm's bound.
    pub(super) fn stay_within_the_bound(&self, rule: &Rule) {
        // What is given back takes its time along, so that an earlier one may count again.
        if self.went_back && self.corrected {
            return;
        }
        let (limit, width) = (u128::from(rule.quota().limit()), u128::from(window(rule)));
        for (first, &(from, _)) in self.granted.iter().enumerate() {
            let mut sum = 0;
            for &(at, cost) in &self.granted[first..] {
                let span = u128::from(at - from);
                sum += u128::from(cost);
                let bound = match rule {
                    Rule::TokenBucket(_) | Rule::LeakyBucket(_) => u128::from(rule.capacity()) + span * limit / width,
                    _ if span >= width => break,
                    Rule::SlidingLog(_) => limit,
                    _ => 2 * limit,
                };
                assert!(sum <= bound, "{sum} admitted in {span} us, {bound} allowed");
            }
        }
    }
}
