//! Nothing is left behind.

use super::{
    promise::Promise,
    run::{Left, Run},
};
use crate::limits::PROCESSES;

/// As many as a store has unless told otherwise.
const CONNECTIONS_EACH: usize = 2;

pub(super) fn promise(run: &Run) -> Promise {
    let Left {
        keys: (keys, endless),
        files: (files, files_now),
        connections: (connections, connections_now),
    } = &run.left;
    let mut broken: Vec<_> = endless.iter().map(|key| format!("{key} has no time-to-live")).collect();
    for (process, (before, after)) in files.iter().zip(files_now).enumerate() {
        if after > before {
            broken.push(format!("process {process} had {before} files open and now has {after}"));
        }
    }
    // One is the pulse's, which asks for nothing but an answer.
    let most = CONNECTIONS_EACH * PROCESSES + 1;
    if *connections_now > most {
        broken.push(format!("the processes have {connections_now} connections to Redis"));
    }
    Promise {
        words: "nothing is left behind: every key has a time-to-live, and no process has more open than before",
        figures: vec![
            format!("{keys} keys at the end, {} without a time-to-live", endless.len()),
            format!("open files of each process: {files:?} after the warm-up, {files_now:?} at the end"),
            format!(
                "connections to Redis: {connections} after the warm-up, {connections_now} at the end, at most {most}"
            ),
        ],
        broken,
    }
}
