//! A rules file that is read again when it changes.
//!
//! The file is looked at several times a second, and compared with what was there before. That sees every way in which a file can
//! change: written in place, replaced by another, behind a link, on a disk of another machine. Rules files are small.

use std::{
    fs, io,
    path::{self, Path},
    thread,
    time::Duration,
};

use super::{
    error::RulesError,
    set::{RuleSet, Unheld},
};

/// How often a file is looked at. What has changed is taken when it is the same for the second time, so within twice as long.
const EVERY: Duration = Duration::from_millis(250);

/// What was found in the file, or why it could not be read.
type Found = Result<String, String>;

/// Looks after a file whose text is in force already, for as long as somebody holds the rules.
pub(super) fn start(file: &Path, text: String, rules: Unheld) -> io::Result<()> {
    // Whoever changes the working directory means no other file by it.
    let file = path::absolute(file)?;
    let thread = thread::Builder::new().name("tollgate-rules".into());
    thread.spawn(move || watch(&file, Ok(text), &rules)).map(drop)
}

fn watch(file: &Path, mut in_force: Found, rules: &Unheld) {
    let mut before = in_force.clone();
    loop {
        thread::sleep(EVERY);
        let Some(rules) = rules.held() else {
            return;
        };
        let unreadable = |error| RulesError::unreadable(error).in_file(file).to_string();
        let found = fs::read_to_string(file).map_err(unreadable);
        // What is still being written may already read as rules, though not as those that are meant.
        if found == before && found != in_force {
            reload(&rules, file, &found);
            in_force.clone_from(&found);
        }
        before = found;
    }
}

fn reload(rules: &RuleSet, file: &Path, found: &Found) {
    let replaced = match found {
        Ok(text) => rules.replace(text).map_err(|error| error.in_file(file).to_string()),
        Err(error) => Err(error.clone()),
    };
    match replaced {
        Ok(()) => tracing::info!(file = %file.display(), limits = rules.limits().len(), "the rules have changed"),
        Err(error) => tracing::error!(%error, "the rules are wrong: those before stay in force"),
    }
}
