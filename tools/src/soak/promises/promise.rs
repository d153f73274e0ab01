//! A promise, and whether it was kept.

use std::fmt;

/// How many of the ways in which a promise was broken are told.
const TOLD: usize = 10;

pub(crate) struct Promise {
    pub(super) words: &'static str,
    pub(super) figures: Vec<String>,
    pub(super) broken: Vec<String>,
}

impl Promise {
    pub(crate) fn is_kept(&self) -> bool {
        self.broken.is_empty()
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = if self.is_kept() { "kept" } else { "BROKEN" };
        writeln!(f, "{kept}: {}", self.words)?;
        for figure in &self.figures {
            writeln!(f, "  {figure}")?;
        }
        for broken in self.broken.iter().take(TOLD) {
            writeln!(f, "  BROKEN: {broken}")?;
        }
        match self.broken.len().saturating_sub(TOLD) {
            0 => Ok(()),
            more => writeln!(f, "  BROKEN: and {more} more"),
        }
    }
}
