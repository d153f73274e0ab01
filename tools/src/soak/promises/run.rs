//! Everything that is known of a run.

use std::time::Instant;

use crate::{
    load::Record,
    rig::Forgotten,
    timeline::{Phase, Timeline},
};

pub(crate) struct Run {
    pub(crate) records: Vec<Record>,
    pub(crate) timeline: Timeline,
    pub(crate) forgotten: Vec<Forgotten>,
    /// When a process did not know its Redis to be up though all was calm, and what it said.
    pub(crate) unwell: Vec<(Instant, String)>,
    pub(crate) left: Left,
}

/// What was found after the run, and before it.
pub(crate) struct Left {
    /// How many keys there were while the load went on, and those that would stay for good.
    pub(crate) keys: (usize, Vec<String>),
    /// What each process had open, after the warm-up and at the end.
    pub(crate) files: (Vec<usize>, Vec<usize>),
    /// How many connections the processes had to Redis, after the warm-up and at the end.
    pub(crate) connections: (usize, usize),
}

impl Run {
    pub(crate) fn phase(&self, record: &Record) -> Phase {
        self.timeline.phase(record)
    }
}
