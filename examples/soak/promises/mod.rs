//! What is promised, and whether it was kept.

mod answered;
mod back;
mod bounded;
mod left;

use std::{fmt, time::Instant};

use crate::{
    load::Record,
    rig::Forgotten,
    timeline::{Phase, Timeline},
};

pub(crate) use left::Left;

/// How many of the ways in which a promise was broken are told.
const TOLD: usize = 10;

/// Everything that is known of a run.
pub(crate) struct Run {
    pub(crate) records: Vec<Record>,
    pub(crate) timeline: Timeline,
    pub(crate) forgotten: Vec<Forgotten>,
    /// When a process did not know its Redis to be up though all was calm, and what it said.
    pub(crate) unwell: Vec<(Instant, String)>,
    pub(crate) left: Left,
}

impl Run {
    pub(crate) fn phase(&self, record: &Record) -> Phase {
        self.timeline.phase(record)
    }

    pub(crate) fn promises(&self) -> [Promise; 4] {
        [
            answered::promise(self),
            back::promise(self),
            bounded::promise(self),
            left::promise(self),
        ]
    }
}

pub(crate) struct Promise {
    words: &'static str,
    figures: Vec<String>,
    broken: Vec<String>,
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
