//! A rules file that is read again when it changes.
//!
//! The file is looked at several times a second, and compared with what was there before. That sees every way in which a file can
//! change: written in place, replaced by another, behind a link, on a disk of another machine. Rules files are small.

use std::{
    io,
    path::{self, Path},
    thread,
    time::Duration,
};

use super::{
    error::RulesError,
    set::{RuleSet, Unheld},
    source,
};

/// How often a file is looked at. What has changed is taken when it is the same for the second time, so within twice as long.
const EVERY: Duration = Duration::from_millis(250);

/// What was found in the file, or why there are no rules in it.
type Found = Result<String, String>;

impl RuleSet {
    /// The rules that a file says, now and whenever it changes: within a second, the new ones are in force.
    ///
    /// They replace the old ones all at once. If they are wrong, the old ones stay in force, and an error is logged that says
    /// what is wrong with them; so it is if the file is gone or says no limit at all. What was used stays used, as long as a
    /// limit keeps its name, its algorithm and its window. Requests that are under way keep to the rules that they came in by.
    ///
    /// A thread of its own looks at the file, until the last clone of the rules is dropped.
    ///
    /// ```no_run
    /// use tollgate::{MemoryStore, RateLimitLayer, RuleSet};
    ///
    /// let rules = RuleSet::watch("rules.toml")?;
    /// let app: axum::Router = axum::Router::new().layer(RateLimitLayer::rules(rules, MemoryStore::new()));
    /// # let _ = app;
    /// # Ok::<(), tollgate::RulesError>(())
    /// ```
    pub fn watch(file: impl AsRef<Path>) -> Result<Self, RulesError> {
        let file = file.as_ref();
        let rules = Self::read(file)?;
        let unwatched = |error| RulesError::unusable(format_args!("it cannot be watched: {error}")).in_file(file);
        start(file, rules.text(), rules.unheld()).map_err(unwatched)?;
        Ok(rules)
    }
}

/// Looks after a file whose text is in force already, for as long as somebody holds the rules.
fn start(file: &Path, text: String, rules: Unheld) -> io::Result<()> {
    // Whoever changes the working directory means no other file by it.
    let file = path::absolute(file)?;
    let thread = thread::Builder::new().name("tollgate-rules".into());
    thread.spawn(move || follow(&file, Ok(text), &rules)).map(drop)
}

fn follow(file: &Path, mut taken: Found, rules: &Unheld) {
    let mut before = taken.clone();
    loop {
        thread::sleep(EVERY);
        let Some(rules) = rules.held() else {
            return;
        };
        let found = source::read(file).map_err(|error| error.in_file(file).to_string());
        // What is still being written may already read as rules, though not as those that are meant.
        if found == before && found != taken {
            take(&rules, file, &found);
            taken.clone_from(&found);
        }
        before = found;
    }
}

fn take(rules: &RuleSet, file: &Path, found: &Found) {
    let replaced = match found {
        Ok(text) => rules.replace(text).map_err(|error| error.in_file(file).to_string()),
        Err(error) => Err(error.clone()),
    };
    let file = file.display();
    match replaced {
        Ok(()) => tracing::info!(%file, limits = rules.limits().len(), "the rules have changed"),
        Err(error) => tracing::error!(%file, %error, "the rules are wrong: those before stay in force"),
    }
}
