//! The admissions of one key.

use tollgate::{AnyAlgorithm, Micros};

use super::bound::assert_within_bound;

/// The admissions of one key, without what was refunded.
#[derive(Default)]
pub(super) struct Admissions {
    admitted: Vec<(Micros, u64)>,
    latest: Micros,
    went_back: bool,
    settled: bool,
}

impl Admissions {
    /// Adds an admission and returns its index. A clock that goes back counts as one that stands still.
    pub(super) fn add(&mut self, now: Micros, cost: u64) -> usize {
        // A cost of 0 does not change the state.
        if cost > 0 {
            self.advance(now);
        }
        self.admitted.push((self.latest, cost));
        self.admitted.len() - 1
    }

    /// Settles an admission to this cost. A surplus is no admission.
    pub(super) fn settle(&mut self, now: Micros, index: usize, cost: u64) {
        self.advance(now);
        self.settled = true;
        if let Some((_, admitted)) = self.admitted.get_mut(index) {
            *admitted = cost.min(*admitted);
        }
    }

    fn advance(&mut self, now: Micros) {
        self.went_back |= now < self.latest;
        self.latest = self.latest.max(now);
    }

    /// No span contains more admissions than the algorithm's bound.
    pub(super) fn are_bounded(&self, algorithm: &AnyAlgorithm) {
        // A refund may remove the latest time that the state has seen, so that an earlier time counts again.
        if self.went_back && self.settled {
            return;
        }
        assert_within_bound(algorithm, &self.admitted);
    }
}
