//! A watched rules file, and the current rules.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
};

use tollgate::{FixedWindow, Limit, Quota, RuleSet};

use support::{
    folder::Folder,
    log::{self, Line},
    wait::until,
};

/// A limit's name, and how many requests it admits per day.
pub(crate) type NamedLimit = (&'static str, u32);

pub(crate) const FIRST: &[NamedLimit] = &[("first", 1)];
pub(crate) const SECOND: &[NamedLimit] = &[("second", 2), ("third", 3)];

/// The text of some rules.
pub(crate) fn text(limits: &[NamedLimit]) -> String {
    limits.iter().map(piece).collect()
}

pub(crate) fn piece((name, limit): &NamedLimit) -> String {
    let day = r#"algorithm = "fixed_window", window = "1d", key = "global""#.replace(", ", "\n");
    format!("[[limit]]\nname = \"{name}\"\nlimit = {limit}\n{day}\n\n")
}

pub(crate) fn are_current(rules: &RuleSet, limits: &[NamedLimit]) -> bool {
    let limit = |(name, limit): &NamedLimit| Limit::new(name, FixedWindow::new(Quota::per_day(*limit)));
    rules.limits() == limits.iter().map(limit).collect::<Vec<_>>()
}

/// Atomically replaces a file with one that is created beside it.
pub(crate) fn replace(file: &str, make: impl FnOnce(&str)) {
    let new = format!("{file}.new");
    make(&new);
    fs::rename(&new, file).unwrap();
}

/// A watched file in its own directory.
pub(crate) struct Watched {
    pub(crate) folder: Folder,
    pub(crate) file: String,
    pub(crate) rules: RuleSet,
}

impl Watched {
    /// A file with [`FIRST`] as the current rules.
    pub(crate) fn new() -> Self {
        let folder = Folder::new("rules");
        let file = folder.file("rules.toml");
        fs::write(&file, text(FIRST)).unwrap();
        Self::at(folder, file)
    }

    /// A file that already exists.
    pub(crate) fn at(folder: Folder, file: String) -> Self {
        log::listen();
        let rules = RuleSet::watch(&file).unwrap();
        assert!(are_current(&rules, FIRST));
        Self { folder, file, rules }
    }

    /// Replaces the file atomically, because a file that is written in place could be read in part.
    pub(crate) fn write(&self, text: impl AsRef<[u8]>) {
        replace(&self.file, |new| fs::write(new, &text).unwrap());
    }

    /// Overwrites the file with a text of the same length.
    pub(crate) fn write_in_place(&self, text: &str) {
        let file = File::options().write(true).open(&self.file).unwrap();
        assert_eq!(file.metadata().unwrap().len(), text.len() as u64);
        file.write_all_at(text.as_bytes(), 0).unwrap();
    }

    /// Waits until these limits are current.
    pub(crate) fn wait_until_current(&self, limits: &[NamedLimit]) {
        until("the rules are in force", || are_current(&self.rules, limits));
    }

    /// The only event that is logged about the file.
    pub(crate) fn logged_event(&self) -> Line {
        let mut events = self.logged_events(1);
        events.remove(0)
    }

    /// The events that several watchers log about the file.
    pub(crate) fn logged_events(&self, lines: usize) -> Vec<Line> {
        let mut events = Vec::new();
        until("it is logged", || {
            events.extend(self.take_events());
            events.len() >= lines
        });
        assert_eq!(events.len(), lines);
        events
    }

    /// The events that were logged about the file since the last call.
    pub(crate) fn take_events(&self) -> Vec<Line> {
        log::take(|line| line.field("file") == self.file)
    }
}

/// Waits until the files were polled a few times: another file, which is polled as often, changes and is reloaded.
pub(crate) fn wait_for_polls() {
    let other = Watched::new();
    for limits in [SECOND, FIRST, SECOND] {
        other.write(text(limits));
        other.wait_until_current(limits);
    }
}
