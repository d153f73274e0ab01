//! No key, file or connection leaks.

use super::{Invariant, Resources, Run};

pub(super) fn check(run: &Run) -> Invariant {
    let Resources {
        keys: (keys, persistent),
        files: (files, files_now),
        connections: (connections, connections_now),
        max_connections,
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
    if connections_now > max_connections {
        violations.push(format!("{connections_now} connections to Redis"));
    }
    Invariant {
        description: "nothing leaks: every key has a time-to-live, and no process has more open files than before",
        checked: keys + files.len(),
        measurements: vec![
            format!("{keys} keys at the end, {} without a time-to-live", persistent.len()),
            format!("open files of each process: {files:?} after the warm-up, {files_now:?} at the end"),
            format!(
                "connections to Redis: {connections} after the warm-up, {connections_now} at the end, at most {max_connections}"
            ),
        ],
        violations,
    }
}
