//! More methods of the seeded random generator.

use std::time::Duration;

use crate::support::random::Random;

impl Random {
    /// An independent generator: how many numbers it draws does not change those of `self`.
    pub(crate) fn fork(&mut self) -> Self {
        Self::seeded(self.next_u64())
    }

    /// An index below `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    pub(crate) fn duration(&mut self, min: Duration, max: Duration) -> Duration {
        let span = (max - min).as_millis() as usize;
        min + Duration::from_millis(self.index(span + 1) as u64)
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}
