//! Files that are wrong: the rules before stay in force, and it is said once.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
};

use tollgate::RuleSet;
use tracing::Level;

use support::{again::kept_from_files, folder::Folder, test_path};

use crate::rules_reload::fixture::{FIRST, SECOND, Watched, are_in_force, let_it_be_looked_at, replace, text};

/// What can be wrong, and what is said about it after the file's name.
type Wrong = (fn(&str), &'static str);

const WRONG: [Wrong; 10] = [
    (|file| overwrite(file, "[[limit]\nname ="), ":1:9: "),
    (
        |file| overwrite(file, text(SECOND).replace("limit = 3", "limit = 0")),
        ":10:9: limit \"third\": limit = 0: it must be a whole number from 1 to 4294967295",
    ),
    (
        |file| overwrite(file, "# nothing yet\n"),
        ":1:1: there is no limit: write each of them under [[limit]]",
    ),
    (|file| overwrite(file, ""), ":1:1: there is no limit"),
    (
        |file| overwrite(file, b"# \xff\xfe\n"),
        ":1:3: this is no UTF-8: save the file as that",
    ),
    (
        |file| fs::remove_file(file).unwrap(),
        ": it cannot be read: No such file or directory",
    ),
    (a_folder_in_its_place, ": it is not a file"),
    // Whoever opened it would wait for somebody to write to it, for ever.
    (a_pipe_in_its_place, ": it is not a file"),
    (
        |file| overwrite(file, "# a log line\n".repeat(100_000)),
        ": it has 1300000 bytes, and rules have 1048576 at most",
    ),
    (
        a_link_to_itself,
        ": it cannot be read: Too many levels of symbolic links",
    ),
];

fn overwrite(file: &str, text: impl AsRef<[u8]>) {
    replace(file, |new| fs::write(new, text).unwrap());
}

/// Nothing can be put in a file's place at once that is a folder, but a link to one can.
fn a_folder_in_its_place(file: &str) {
    let folder = format!("{file}.folder");
    fs::create_dir(&folder).unwrap();
    replace(file, |new| symlink(&folder, new).unwrap());
}

fn a_pipe_in_its_place(file: &str) {
    replace(file, |new| {
        assert!(Command::new("mkfifo").arg(new).status().unwrap().success())
    });
}

fn a_link_to_itself(file: &str) {
    replace(file, |new| symlink(file, new).unwrap());
}

#[test]
fn the_rules_before_stay_in_force_until_it_is_mended() {
    let files = WRONG.map(|wrong| (Watched::new(), wrong));
    for (watched, (damage, _)) in &files {
        damage(&watched.file);
    }
    for (watched, (_, why)) in &files {
        let said = watched.says();
        let message = "the rules are wrong: those before stay in force";
        assert_eq!((said.level, said.field("message")), (Level::ERROR, message));
        let error = said.field("error");
        assert!(error.starts_with(&format!("{}{why}", watched.file)), "{error}");
    }
    let_it_be_looked_at();
    for (watched, (_, why)) in &files {
        assert!(are_in_force(&watched.rules, FIRST), "{why}");
        assert_eq!(watched.has_said().len(), 0, "{why}");
        watched.write(text(SECOND));
    }
    for (watched, (_, why)) in &files {
        watched.follows(SECOND);
        assert_eq!(watched.says().level, Level::INFO, "{why}");
    }
}

#[test]
fn what_is_wrong_in_another_way_is_said_anew() {
    let watched = Watched::new();
    for limit in ["0", "-1", "0"] {
        watched.write(text(FIRST).replace("limit = 1", &format!("limit = {limit}")));
        let said = watched.says();
        let place = format!("{}:3:9: limit \"first\": limit = {limit}: ", watched.file);
        assert!(said.field("error").starts_with(&place), "{}", said.field("error"));
    }
    // It is as it was before, and that is a change, too.
    watched.write(text(FIRST));
    assert_eq!(watched.says().level, Level::INFO);
    assert!(are_in_force(&watched.rules, FIRST));
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let watched = Watched::new();
    watched.write(text(SECOND).replace("limit = ", "limit = -"));
    let said = watched.says();
    let place = |line: &str| line.strip_prefix(&watched.file)?.split(' ').next().map(str::to_owned);
    let places: Vec<_> = said.field("error").lines().map(place).collect();
    assert_eq!(places, [":3:9:", ":10:9:"].map(|place| Some(place.to_owned())));
}

#[test]
fn a_file_that_may_not_be_read_changes_nothing() {
    let watched = Watched::new();
    let allow = |mode| fs::set_permissions(&watched.file, fs::Permissions::from_mode(mode)).unwrap();
    allow(0);
    if fs::read(&watched.file).is_ok() {
        return kept_from_files(test_path!("a_file_that_may_not_be_read_changes_nothing"));
    }
    let said = watched.says();
    let why = format!("{}: it cannot be read: Permission denied (os error 13)", watched.file);
    assert_eq!((said.level, said.field("error")), (Level::ERROR, &*why));
    allow(0o600);
    assert_eq!(watched.says().level, Level::INFO);
    assert!(are_in_force(&watched.rules, FIRST));
}

#[test]
fn nothing_starts_from_a_wrong_file() {
    let folder = Folder::new("wrong");
    let [missing, wrong] = ["missing.toml", "wrong.toml"].map(|name| folder.file(name));
    fs::write(&wrong, text(SECOND).replace("limit = 3", "limit = 0")).unwrap();
    let gone = format!("{missing}: it cannot be read: No such file or directory (os error 2)");
    let why = "limit \"third\": limit = 0: it must be a whole number from 1 to 4294967295";
    let wrong_value = format!("{wrong}:10:9: {why}");
    for (file, said) in [(missing, gone), (wrong, wrong_value)] {
        for started in [RuleSet::read(&file), RuleSet::watch(&file)] {
            assert_eq!(started.unwrap_err().to_string(), said);
        }
    }
}
