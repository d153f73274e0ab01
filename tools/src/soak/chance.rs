//! What is left to chance, and is the same again for the same seed.

use std::time::Duration;

use crate::support::random::Random;

impl Random {
    /// Others, which are as many as whoever takes them likes: these go on in the same way.
    pub(crate) fn fork(&mut self) -> Self {
        Self::seeded(self.next_u64())
    }

    /// Which of so many.
    pub(crate) fn one_of(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }

    pub(crate) fn between(&mut self, shortest: Duration, longest: Duration) -> Duration {
        let span = (longest - shortest).as_millis() as usize;
        shortest + Duration::from_millis(self.one_of(span + 1) as u64)
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.one_of(last + 1));
        }
    }
}
