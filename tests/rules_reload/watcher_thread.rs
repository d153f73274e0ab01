//! The watcher thread: one per watched rule set, until its last clone is dropped.

use std::fs;

use tollgate::{MemoryStore, RuleSet, RulesLayer};

use support::{
    log::{self, Line},
    subprocess::in_own_process,
    test_path,
    wait::until,
};

use crate::rules_reload::fixture::{SECOND, Watched, text};

/// The number of watcher threads in this process.
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    // A thread that has just ended has no name.
    let names = tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
    names.filter(|name| name.trim_end() == "tollgate-rules").count()
}

#[test]
fn the_thread_ends_with_the_last_clone_of_the_rules() {
    in_own_process(
        test_path!("the_thread_ends_with_the_last_clone_of_the_rules"),
        thread_ends,
    );
}

fn thread_ends() {
    let Watched { folder, file, rules } = Watched::new();
    until("it has its name", || threads() == 1);
    // A second watcher has its own thread, and one that fails to start has none.
    let other = RuleSet::watch(&file).unwrap();
    until("there are two", || threads() == 2);
    drop(other);
    assert!(RuleSet::watch(folder.file("missing")).is_err());
    until("there is one again", || threads() == 1);
    // A layer keeps the rules alive too.
    let layer = RulesLayer::new(rules.clone(), MemoryStore::new());
    drop(rules);
    fs::write(&file, text(SECOND)).unwrap();
    let has_changed = |line: &Line| line.field("file") == file && line.field("message") == "rules reloaded";
    until("it goes on", || !log::take(has_changed).is_empty());
    drop(layer);
    until("it has ended", || threads() == 0);
}
