//! A part of a whole, formatted in percent.

use std::fmt;

#[derive(Clone, Copy)]
pub(crate) struct Percent {
    pub(crate) part: u64,
    pub(crate) whole: u64,
}

impl Percent {
    /// To the nearest whole percent.
    pub(crate) fn rounded(self) -> u64 {
        (200 * self.part + self.whole) / (2 * self.whole)
    }
}

/// Rounded to nearest: no decimals for a whole percent, three below 1%, otherwise two.
impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, whole } = *self;
        if (100 * part).is_multiple_of(whole) {
            return write!(f, "{}%", 100 * part / whole);
        }
        let (one, digits) = if 100 * part < whole { (1000, 3) } else { (100, 2) };
        let rounded = (200 * part * one + whole) / (2 * whole);
        write!(f, "{}.{:0digits$}%", rounded / one, rounded % one)
    }
}
