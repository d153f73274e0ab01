//! Invalid files: the current rules stay in force, and the error is logged once.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
};

use tollgate::RuleSet;
use tracing::Level;

use support::{folder::Folder, subprocess::rerun_without_root_access, test_path};

use crate::rules_reload::fixture::{FIRST, SECOND, Watched, are_current, replace, text, wait_for_polls};

/// How a file becomes invalid, and the beginning of the error.
type Case = (fn(&str), &'static str);

const CASES: [Case; 10] = [
    (|file| overwrite(file, "[[limit]\nname ="), "line 1, column 9: "),
    (
        |file| overwrite(file, text(SECOND).replace("limit = 3", "limit = 0")),
        "line 10, column 9: limit \"third\": limit = 0: it must be a whole number from 1 to 4294967295",
    ),
    (
        |file| overwrite(file, "# nothing yet\n"),
        "line 1, column 1: no limit is defined: define each under [[limit]]",
    ),
    (|file| overwrite(file, ""), "line 1, column 1: no limit is defined"),
    (
        |file| overwrite(file, b"# \xff\xfe\n"),
        "line 1, column 3: invalid UTF-8: save the file as UTF-8",
    ),
    (
        |file| fs::remove_file(file).unwrap(),
        "it cannot be read: No such file or directory",
    ),
    (replace_with_directory, "it is not a file"),
    // Opening a pipe would block until a writer opens it too.
    (replace_with_pipe, "it is not a file"),
    (
        |file| overwrite(file, "# a log line\n".repeat(100_000)),
        "it has 1300000 bytes, and the maximum is 1048576",
    ),
    (
        replace_with_link_to_itself,
        "it cannot be read: Too many levels of symbolic links",
    ),
];

fn overwrite(file: &str, text: impl AsRef<[u8]>) {
    replace(file, |new| fs::write(new, text).unwrap());
}

/// A directory cannot replace a file atomically, but a link to one can.
fn replace_with_directory(file: &str) {
    let folder = format!("{file}.folder");
    fs::create_dir(&folder).unwrap();
    replace(file, |new| symlink(&folder, new).unwrap());
}

fn replace_with_pipe(file: &str) {
    replace(file, |new| {
        assert!(Command::new("mkfifo").arg(new).status().unwrap().success())
    });
}

fn replace_with_link_to_itself(file: &str) {
    replace(file, |new| symlink(file, new).unwrap());
}

#[test]
fn an_invalid_file_keeps_the_current_rules_until_it_is_fixed() {
    let files = CASES.map(|wrong| (Watched::new(), wrong));
    for (watched, (damage, _)) in &files {
        damage(&watched.file);
    }
    for (watched, (_, why)) in &files {
        let event = watched.logged_event();
        let message = "invalid rules: the previous rules stay in force";
        assert_eq!((event.level, event.field("message")), (Level::ERROR, message));
        let error = event.field("error");
        assert!(error.starts_with(why), "{error}");
    }
    wait_for_polls();
    for (watched, (_, why)) in &files {
        assert!(are_current(&watched.rules, FIRST), "{why}");
        assert_eq!(watched.take_events().len(), 0, "{why}");
        watched.write(text(SECOND));
    }
    for (watched, (_, why)) in &files {
        watched.wait_until_current(SECOND);
        assert_eq!(watched.logged_event().level, Level::INFO, "{why}");
    }
}

#[test]
fn a_different_error_is_logged_again() {
    let watched = Watched::new();
    for limit in ["0", "-1", "0"] {
        watched.write(text(FIRST).replace("limit = 1", &format!("limit = {limit}")));
        let event = watched.logged_event();
        let place = format!("line 3, column 9: limit \"first\": limit = {limit}: ");
        assert!(event.field("error").starts_with(&place), "{}", event.field("error"));
    }
    // The text is the initial one again, and that is a change too.
    watched.write(text(FIRST));
    assert_eq!(watched.logged_event().level, Level::INFO);
    assert!(are_current(&watched.rules, FIRST));
}

#[test]
fn all_diagnostics_are_in_one_event() {
    let watched = Watched::new();
    watched.write(text(SECOND).replace("limit = ", "limit = -"));
    let event = watched.logged_event();
    let error = event.field("error");
    let places: Vec<_> = error.split("; ").map(|one| one.split_once(": ").unwrap().0).collect();
    assert_eq!(places, ["line 3, column 9", "line 10, column 9"], "{error}");
    assert!(!error.contains('\n') && !error.contains(&watched.file), "{error}");
}

#[test]
fn an_unreadable_file_keeps_the_current_rules() {
    let watched = Watched::new();
    let allow = |mode| fs::set_permissions(&watched.file, fs::Permissions::from_mode(mode)).unwrap();
    allow(0);
    if fs::read(&watched.file).is_ok() {
        return rerun_without_root_access(test_path!("an_unreadable_file_keeps_the_current_rules"));
    }
    let event = watched.logged_event();
    let why = "it cannot be read: Permission denied (os error 13)";
    assert_eq!((event.level, event.field("error")), (Level::ERROR, why));
    allow(0o600);
    assert_eq!(watched.logged_event().level, Level::INFO);
    assert!(are_current(&watched.rules, FIRST));
}

#[test]
fn an_invalid_file_is_an_error_at_start() {
    let folder = Folder::new("wrong");
    let [missing, wrong] = ["missing.toml", "wrong.toml"].map(|name| folder.file(name));
    fs::write(&wrong, text(SECOND).replace("limit = 3", "limit = 0")).unwrap();
    let not_found = format!("{missing}: it cannot be read: No such file or directory (os error 2)");
    let why = "limit \"third\": limit = 0: it must be a whole number from 1 to 4294967295";
    let wrong_value = format!("{wrong}:10:9: {why}");
    for (file, event) in [(missing, not_found), (wrong, wrong_value)] {
        for started in [RuleSet::read(&file), RuleSet::watch(&file)] {
            assert_eq!(started.unwrap_err().to_string(), event);
        }
    }
}
