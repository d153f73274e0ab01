//! A heavy tail of random numbers. All are whole: what is drawn must not depend on a machine's mathematics.

use crate::random::Random;

/// What a share is a share of.
const WHOLE: u64 = 1 << 32;

impl Random {
    /// At least `least`, and twice as much half as often (Pareto's law with an exponent of 1), but never more than `most`.
    pub(crate) fn heavy_tailed(&mut self, least: u64, most: u64) -> u64 {
        let smallest = WHOLE * least / most;
        let share = smallest + 1 + self.below(WHOLE - smallest);
        WHOLE * least / share
    }
}
