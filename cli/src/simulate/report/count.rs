//! How many there were, and how many of them were refused.

use std::cmp::Reverse;

#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) requests: u64,
    pub(super) refused: u64,
}

impl Count {
    pub(super) fn add(&mut self, is_refused: bool) {
        self.requests += 1;
        self.refused += u64::from(is_refused);
    }

    /// The worst of them: by refusals, then by requests, then by name.
    pub(super) fn worst<K: Ord>(of: impl Iterator<Item = (K, Self)>, most: usize) -> Vec<(K, Self)> {
        let mut all: Vec<_> = of.collect();
        all.sort_unstable_by(|(one, a), (other, b)| {
            let rank = |count: &Self| Reverse((count.refused, count.requests));
            rank(a).cmp(&rank(b)).then_with(|| one.cmp(other))
        });
        all.truncate(most);
        all
    }
}
