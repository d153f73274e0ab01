//! Processes end together with those that they have started.

use std::path::Path;

use support::{folder::Folder, process::Process};

/// A process that starts another by these words, which say `FILE` for a file. Whether that is there when both have ended.
/// The other says that it is ready, since only then is it in the group where it will be.
fn has_written(words: &str) -> bool {
    let folder = Folder::new("process");
    let file = folder.file("written");
    let script = format!("{} & wait", words.replace("FILE", &file));
    drop(Process::start(&["sh".into(), "-c".into(), script], &["ready"]));
    Path::new(&file).exists()
}

#[test]
fn whoever_is_of_the_group_is_killed() {
    assert!(!has_written("(echo ready; sleep 30; touch 'FILE')"));
}

#[test]
fn whoever_is_not_is_waited_for() {
    assert!(has_written("setsid sh -c \"echo ready; sleep 1; touch 'FILE'\""));
}
