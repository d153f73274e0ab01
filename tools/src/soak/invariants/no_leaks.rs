//! No key, file or connection leaks.

use super::{Invariant, Resources, Run};
use crate::limits::PROCESSES;

/// The default of a store.
const CONNECTIONS_PER_PROCESS: usize = 2;

/// The connections of the processes, and the pinger's.
const MAX_CONNECTIONS: usize = CONNECTIONS_PER_PROCESS * PROCESSES + 1;

pub(super) fn check(run: &Run) -> Invariant {
    let Resources {
        keys: (keys, persistent),
        files: (files, files_now),
        connections: (connections, connections_now),
    } = &run.resources;
    let mut violations: Vec<_> = persistent
        .iter()
        .map(|key| format!("{key} has no time-to-live"))
        .collect();
    for (process, (before, after)) in files.iter().zip(files_now).enumerate() {
        if after > before {
            violations.push(format!("process {process} had {before} open files and now has {after}"));
        }
    }
    if *connections_now > MAX_CONNECTIONS {
        violations.push(format!("{connections_now} connections to Redis"));
    }
    Invariant {
        description: "nothing leaks: every key has a time-to-live, and no process has more open files than before",
        measurements: vec![
            format!("{keys} keys at the end, {} without a time-to-live", persistent.len()),
            format!("open files of each process: {files:?} after the warm-up, {files_now:?} at the end"),
            format!(
                "connections to Redis: {connections} after the warm-up, {connections_now} at the end, at most {MAX_CONNECTIONS}"
            ),
        ],
        violations,
    }
}
