//! The invariants that a run must hold.

mod every_request_answered;
mod failure_mode_decides;
mod limits_respected;
mod no_leaks;
mod recovery;
mod redis_decides;
mod windows;

use std::{fmt, time::Instant};

use crate::{
    fault_injector::StateLoss,
    load::Record,
    scenario::Scenario,
    timeline::{Phase, Timeline},
};

/// The data of a run.
pub(crate) struct Run {
    pub(crate) scenario: Scenario,
    pub(crate) records: Vec<Record>,
    pub(crate) timeline: Timeline,
    pub(crate) state_losses: Vec<StateLoss>,
    /// When a process reported its Redis store as not up during a calm, and the report.
    pub(crate) unhealthy: Vec<(Instant, String)>,
    pub(crate) resources: Resources,
}

impl Run {
    /// The requests, each with its phase.
    pub(crate) fn by_phase(&self) -> impl Iterator<Item = (Phase, &Record)> {
        self.records.iter().map(|record| (self.timeline.phase(record), record))
    }
}

/// Keys, files and connections, before and after the run.
pub(crate) struct Resources {
    /// The number of keys under load, and the keys without a time-to-live.
    pub(crate) keys: (usize, Vec<String>),
    /// The open files of each process, after the warm-up and at the end.
    pub(crate) files: (Vec<usize>, Vec<usize>),
    /// The connections to Redis, after the warm-up and at the end.
    pub(crate) connections: (usize, usize),
    pub(crate) max_connections: usize,
}

/// How many violations of an invariant are printed.
const MAX_PRINTED: usize = 10;

pub(crate) struct Invariant {
    description: &'static str,
    /// The number of requests, or other things, that could have violated it.
    checked: usize,
    measurements: Vec<String>,
    violations: Vec<String>,
}

impl Invariant {
    pub(crate) fn is_violated(&self) -> bool {
        !self.violations.is_empty()
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let result = match self.checked {
            _ if self.is_violated() => "VIOLATED",
            0 => "not checked",
            _ => "holds",
        };
        writeln!(f, "{result}: {}", self.description)?;
        for measurement in &self.measurements {
            writeln!(f, "  {measurement}")?;
        }
        for violation in self.violations.iter().take(MAX_PRINTED) {
            writeln!(f, "  VIOLATED: {violation}")?;
        }
        match self.violations.len().saturating_sub(MAX_PRINTED) {
            0 => Ok(()),
            more => writeln!(f, "  VIOLATED: and {more} more"),
        }
    }
}

pub(crate) fn check_all(run: &Run) -> Vec<Invariant> {
    let mut invariants = vec![every_request_answered::check(run)];
    match run.scenario {
        Scenario::Faults => invariants.push(recovery::check(run)),
        Scenario::Latency => invariants.push(redis_decides::check(run)),
        Scenario::Cluster => invariants.extend([
            redis_decides::check(run),
            failure_mode_decides::check(run),
            recovery::check(run),
        ]),
    }
    invariants.extend([limits_respected::check(run), no_leaks::check(run)]);
    invariants
}
