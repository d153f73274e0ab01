//! A part of a whole, in percent.

use std::fmt;

#[derive(Clone, Copy)]
pub(crate) struct Share {
    pub(crate) part: u64,
    pub(crate) whole: u64,
}

impl Share {
    /// To the nearest whole percent.
    pub(crate) fn rounded(self) -> u64 {
        (200 * self.part + self.whole) / (2 * self.whole)
    }
}

/// Rounded to the nearest: to a whole percent if it is one, to three decimals below 1%, else to two.
impl fmt::Display for Share {
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
