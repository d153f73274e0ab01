//! The failure mode decides about the users of a node that is unavailable.

use super::{Invariant, Run};
use crate::{
    answer::DecidedBy,
    limits::DEADLINE,
    load::Record,
    timeline::{Episode, Phase},
};

pub(super) fn check(run: &Run) -> Invariant {
    let (mut checked, mut denials) = (0, 0);
    let mut violations = Vec::new();
    for (phase, record) in run.by_phase() {
        let (Phase::Faulty(fault), Ok(answer)) = (phase, &record.answer) else {
            continue;
        };
        let is_within = run.timeline.episodes.iter().any(|episode| is_within(episode, record));
        // After a stall of a process, a reply may have arrived together with the deadline.
        if !is_within || run.timeline.is_stalled(record.began, record.ended) {
            continue;
        }
        checked += 1;
        match answer.decided_by {
            DecidedBy::Redis if answer.admits => {
                let (mode, process) = (record.mode.name(), record.process);
                violations.push(format!("/{mode} of process {process}, during: {fault}: {answer}"));
            }
            DecidedBy::Redis => denials += 1,
            DecidedBy::Fallback | DecidedBy::FailureMode => {}
        }
    }
    Invariant {
        description: "the failure mode decides about the users of an unavailable node: Redis admits none of their requests",
        checked,
        measurements: vec![format!(
            "{checked} requests, {denials} of them denied by the denial cache; those that overlap the first or the last {DEADLINE:?} of \
             the fault, or a stall of the machine, are ignored"
        )],
        violations,
    }
}

/// Whether the node was unavailable during the whole request: not while the fault was injected or repaired.
fn is_within(episode: &Episode, record: &Record) -> bool {
    episode.affects(record) && episode.began + DEADLINE <= record.began && record.ended + DEADLINE <= episode.repaired
}
