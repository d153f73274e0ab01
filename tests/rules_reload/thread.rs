//! The thread that looks at the file: one, for as long as somebody holds the rules.

use std::fs;

use tollgate::{MemoryStore, RateLimitLayer, RuleSet};

use support::{
    again::alone,
    log::{self, Line},
    patience::until,
    test_path,
};

use crate::rules_reload::fixture::{SECOND, Watched, text};

/// How many threads of this process look at rules files.
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    // Whoever has just ended has no name any more.
    let names = tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
    names.filter(|name| name.trim_end() == "tollgate-rules").count()
}

#[test]
fn it_ends_with_the_last_who_holds_the_rules() {
    alone(test_path!("it_ends_with_the_last_who_holds_the_rules"), it_ends);
}

fn it_ends() {
    let Watched { folder, file, rules } = Watched::new();
    until("it has its name", || threads() == 1);
    // Whoever watches the file too has a thread of their own, and whoever fails to has none.
    let other = RuleSet::watch(&file).unwrap();
    until("there are two", || threads() == 2);
    drop(other);
    assert!(RuleSet::watch(folder.file("missing")).is_err());
    until("there is one again", || threads() == 1);
    // A service holds the rules as well as their first owner did.
    let layer = RateLimitLayer::rules(rules.clone(), MemoryStore::new());
    drop(rules);
    fs::write(&file, text(SECOND)).unwrap();
    let has_changed = |line: &Line| line.field("file") == file && line.field("message") == "the rules have changed";
    until("it goes on", || !log::take(has_changed).is_empty());
    drop(layer);
    until("it has ended", || threads() == 0);
}
