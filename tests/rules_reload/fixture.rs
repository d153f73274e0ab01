//! A rules file that is watched, and what is in force.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
};

use tollgate::{FixedWindow, Limit, Quota, RuleSet};

use support::{
    folder::Folder,
    log::{self, Line},
    patience::until,
};

/// What a limit is called, and how many it admits a day.
pub(crate) type Named = (&'static str, u32);

pub(crate) const FIRST: &[Named] = &[("first", 1)];
pub(crate) const SECOND: &[Named] = &[("second", 2), ("third", 3)];

/// The text of some rules.
pub(crate) fn text(limits: &[Named]) -> String {
    limits.iter().map(piece).collect()
}

pub(crate) fn piece((name, limit): &Named) -> String {
    let day = r#"algorithm = "fixed_window", window = "1d", key = "global""#.replace(", ", "\n");
    format!("[[limit]]\nname = \"{name}\"\nlimit = {limit}\n{day}\n\n")
}

pub(crate) fn are_in_force(rules: &RuleSet, limits: &[Named]) -> bool {
    let limit = |(name, limit): &Named| Limit::new(name, FixedWindow::new(Quota::per_day(*limit)));
    rules.limits() == limits.iter().map(limit).collect::<Vec<_>>()
}

/// Puts what is made beside a file in its place, all at once.
pub(crate) fn replace(file: &str, make: impl FnOnce(&str)) {
    let new = format!("{file}.new");
    make(&new);
    fs::rename(&new, file).unwrap();
}

/// A file that is watched, in a folder of its own.
pub(crate) struct Watched {
    pub(crate) folder: Folder,
    pub(crate) file: String,
    pub(crate) rules: RuleSet,
}

impl Watched {
    /// With [`FIRST`] in force.
    pub(crate) fn new() -> Self {
        let folder = Folder::new("rules");
        let file = folder.file("rules.toml");
        fs::write(&file, text(FIRST)).unwrap();
        Self::at(folder, file)
    }

    /// A file that is there already.
    pub(crate) fn at(folder: Folder, file: String) -> Self {
        log::listen();
        let rules = RuleSet::watch(&file).unwrap();
        assert!(are_in_force(&rules, FIRST));
        Self { folder, file, rules }
    }

    /// Puts another file in its place, all at once: of one that is written in place, a part may be found as well.
    pub(crate) fn write(&self, text: impl AsRef<[u8]>) {
        replace(&self.file, |new| fs::write(new, &text).unwrap());
    }

    /// Writes over what is there, which is as long.
    pub(crate) fn write_in_place(&self, text: &str) {
        let file = File::options().write(true).open(&self.file).unwrap();
        assert_eq!(file.metadata().unwrap().len(), text.len() as u64);
        file.write_all_at(text.as_bytes(), 0).unwrap();
    }

    /// What has just been written is in force in the end.
    pub(crate) fn follows(&self, limits: &[Named]) {
        until("the rules are in force", || are_in_force(&self.rules, limits));
    }

    /// What is logged about the file, which is one line.
    pub(crate) fn says(&self) -> Line {
        let mut said = self.says_each(1);
        said.remove(0)
    }

    /// What is logged about the file by several who watch it.
    pub(crate) fn says_each(&self, lines: usize) -> Vec<Line> {
        let mut said = Vec::new();
        until("it is logged", || {
            said.extend(self.has_said());
            said.len() >= lines
        });
        assert_eq!(said.len(), lines);
        said
    }

    /// What has been logged about the file, and not been asked for yet.
    pub(crate) fn has_said(&self) -> Vec<Line> {
        log::take(|line| line.field("file") == self.file || line.field("error").starts_with(&self.file))
    }
}

/// Lets the files be looked at a few times: another one, which is looked at as often, changes and is followed.
pub(crate) fn let_it_be_looked_at() {
    let other = Watched::new();
    for limits in [SECOND, FIRST, SECOND] {
        other.write(text(limits));
        other.follows(limits);
    }
}
