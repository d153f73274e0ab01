//! Every way in which a file can change is noticed.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    time::{Duration, SystemTime},
};

use tollgate::RuleSet;
use tracing::Level;

use support::{folder::Folder, wait::until};

use crate::rules_reload::fixture::{FIRST, NamedLimit, SECOND, Watched, are_current, text, wait_for_polls};

/// The text of some rules, padded to the length of all others here.
fn padded(limits: &[NamedLimit]) -> String {
    format!("{:<500}", text(limits))
}

#[test]
fn written_in_place() {
    let folder = Folder::new("rules");
    let file = folder.file("rules.toml");
    fs::write(&file, padded(FIRST)).unwrap();
    let watched = Watched::at(folder, file);
    for limits in [SECOND, FIRST] {
        watched.write_in_place(&padded(limits));
        watched.wait_until_current(limits);
        assert_eq!(watched.rules.text(), padded(limits));
        let event = watched.logged_event();
        assert_eq!((event.level, event.field("message")), (Level::INFO, "rules reloaded"));
        assert_eq!(event.field("limits"), limits.len().to_string());
    }
}

/// As editors save files.
#[test]
fn replaced_by_rename() {
    let watched = Watched::new();
    for limits in [SECOND, FIRST] {
        watched.write(text(limits));
        watched.wait_until_current(limits);
    }
}

#[test]
fn removed_and_created_again() {
    let watched = Watched::new();
    fs::remove_file(&watched.file).unwrap();
    fs::write(&watched.file, text(SECOND)).unwrap();
    watched.wait_until_current(SECOND);
}

/// As Kubernetes updates a mounted volume: the file is a link into a directory, which is a link to one version.
#[test]
fn a_symlink_is_switched() {
    let folder = Folder::new("mounted");
    for (version, limits) in [("..one", FIRST), ("..two", SECOND)] {
        fs::create_dir(folder.file(version)).unwrap();
        fs::write(folder.file(&format!("{version}/rules.toml")), text(limits)).unwrap();
    }
    let file = folder.file("rules.toml");
    symlink("..one", folder.file("..data")).unwrap();
    symlink("..data/rules.toml", &file).unwrap();
    let watched = Watched::at(folder, file);
    let new = watched.folder.file("..data_tmp");
    symlink("..two", &new).unwrap();
    fs::rename(&new, watched.folder.file("..data")).unwrap();
    fs::remove_dir_all(watched.folder.file("..one")).unwrap();
    watched.wait_until_current(SECOND);
}

#[test]
fn changed_with_the_same_length_and_modification_time() {
    let watched = Watched::new();
    let before = fs::metadata(&watched.file).unwrap();
    let other: &[NamedLimit] = &[("fifth", 5)];
    watched.write_in_place(&text(other));
    let file = File::options().write(true).open(&watched.file).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let after = fs::metadata(&watched.file).unwrap();
    assert_eq!(
        (after.len(), after.modified().unwrap()),
        (before.len(), before.modified().unwrap())
    );
    watched.wait_until_current(other);
}

#[test]
fn touching_or_rewriting_the_same_text_is_no_change() {
    let [touched, written, replaced] = [(); 3].map(|()| Watched::new());
    let file = File::options().write(true).open(&touched.file).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    written.write_in_place(&text(FIRST));
    replaced.write(text(FIRST));
    wait_for_polls();
    for watched in [touched, written, replaced] {
        assert_eq!(watched.take_events().len(), 0);
    }
}

#[test]
fn the_last_of_several_changes_applies() {
    let watched = Watched::new();
    for limits in [SECOND, FIRST].repeat(50) {
        fs::write(&watched.file, text(limits)).unwrap();
    }
    watched.write(text(SECOND));
    watched.wait_until_current(SECOND);
    wait_for_polls();
    assert!(are_current(&watched.rules, SECOND));
}

#[test]
fn every_watcher_reloads() {
    let watched = Watched::new();
    let others = [(); 3].map(|()| RuleSet::watch(&watched.file).unwrap());
    watched.write(text(SECOND));
    watched.wait_until_current(SECOND);
    for other in &others {
        until("the others follow", || are_current(other, SECOND));
    }
    watched.logged_events(4);
}

#[test]
fn a_file_that_was_read_once_is_not_watched() {
    let watched = Watched::new();
    let read = RuleSet::read(&watched.file).unwrap();
    watched.write(text(SECOND));
    watched.wait_until_current(SECOND);
    wait_for_polls();
    assert!(are_current(&read, FIRST));
}
