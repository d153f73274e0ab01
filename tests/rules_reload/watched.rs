//! The ways in which a file changes, each of which is followed.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    time::{Duration, SystemTime},
};

use tollgate::RuleSet;
use tracing::Level;

use support::{folder::Folder, patience::until};

use crate::rules_reload::fixture::{FIRST, Named, SECOND, Watched, are_in_force, let_it_be_looked_at, text};

/// The text of some rules, as long as that of any others here.
fn padded(limits: &[Named]) -> String {
    format!("{:<500}", text(limits))
}

#[test]
fn it_is_written_in_place() {
    let folder = Folder::new("rules");
    let file = folder.file("rules.toml");
    fs::write(&file, padded(FIRST)).unwrap();
    let watched = Watched::at(folder, file);
    for limits in [SECOND, FIRST] {
        watched.write_in_place(&padded(limits));
        watched.follows(limits);
        assert_eq!(watched.rules.text(), padded(limits));
        let said = watched.says();
        assert_eq!(
            (said.level, said.field("message")),
            (Level::INFO, "the rules have changed")
        );
        assert_eq!(said.field("limits"), limits.len().to_string());
    }
}

/// As editors save.
#[test]
fn another_file_is_renamed_over_it() {
    let watched = Watched::new();
    for limits in [SECOND, FIRST] {
        watched.write(text(limits));
        watched.follows(limits);
    }
}

#[test]
fn it_is_removed_and_created_again() {
    let watched = Watched::new();
    fs::remove_file(&watched.file).unwrap();
    fs::write(&watched.file, text(SECOND)).unwrap();
    watched.follows(SECOND);
}

/// As Kubernetes updates what it mounts: the file is a link into a folder, which is a link to one of its versions.
#[test]
fn a_link_is_pointed_elsewhere() {
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
    watched.follows(SECOND);
}

#[test]
fn neither_its_length_nor_its_time_changes() {
    let watched = Watched::new();
    let before = fs::metadata(&watched.file).unwrap();
    let other: &[Named] = &[("fifth", 5)];
    watched.write_in_place(&text(other));
    let file = File::options().write(true).open(&watched.file).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let after = fs::metadata(&watched.file).unwrap();
    assert_eq!(
        (after.len(), after.modified().unwrap()),
        (before.len(), before.modified().unwrap())
    );
    watched.follows(other);
}

#[test]
fn what_is_only_touched_or_written_again_has_not_changed() {
    let [touched, written, replaced] = [(); 3].map(|()| Watched::new());
    let file = File::options().write(true).open(&touched.file).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    written.write_in_place(&text(FIRST));
    replaced.write(text(FIRST));
    let_it_be_looked_at();
    for watched in [touched, written, replaced] {
        assert_eq!(watched.has_said().len(), 0);
    }
}

#[test]
fn of_several_changes_the_last_one_stays() {
    let watched = Watched::new();
    for limits in [SECOND, FIRST].repeat(50) {
        fs::write(&watched.file, text(limits)).unwrap();
    }
    watched.write(text(SECOND));
    watched.follows(SECOND);
    let_it_be_looked_at();
    assert!(are_in_force(&watched.rules, SECOND));
}

#[test]
fn everybody_who_watches_it_follows() {
    let watched = Watched::new();
    let others = [(); 3].map(|()| RuleSet::watch(&watched.file).unwrap());
    watched.write(text(SECOND));
    watched.follows(SECOND);
    for other in &others {
        until("the others follow", || are_in_force(other, SECOND));
    }
    watched.says_each(4);
}

#[test]
fn what_was_read_once_is_not_watched() {
    let watched = Watched::new();
    let read = RuleSet::read(&watched.file).unwrap();
    watched.write(text(SECOND));
    watched.follows(SECOND);
    let_it_be_looked_at();
    assert!(are_in_force(&read, FIRST));
}
