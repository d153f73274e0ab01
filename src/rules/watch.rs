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

fn follow(file: &Path, text: Found, rules: &Unheld) {
    let mut looks = Looks::new(text);
    loop {
        thread::sleep(EVERY);
        let Some(rules) = rules.held() else {
            return;
        };
        let found = source::read(file).map_err(|error| error.in_file(file).to_string());
        if let Some(changed) = looks.changed(found) {
            take(&rules, file, changed);
        }
    }
}

/// What was found in the file, look by look.
struct Looks {
    before: Found,
    taken: Found,
}

impl Looks {
    fn new(taken: Found) -> Self {
        let before = taken.clone();
        Self { before, taken }
    }

    /// What is to be taken now, if anything. What is still being written may already read as rules, though not as those that
    /// are meant: so it is taken when it is found for the second time.
    fn changed(&mut self, found: Found) -> Option<&Found> {
        let is_settled = found == self.before;
        self.before = found;
        if !is_settled || self.before == self.taken {
            return None;
        }
        self.taken.clone_from(&self.before);
        Some(&self.taken)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is taken after each look; `-` is nothing.
    fn taken(looks: &[&str]) -> Vec<String> {
        let found = |text: &str| match text {
            "gone" => Err(text.to_owned()),
            text => Ok(text.to_owned()),
        };
        let mut all = Looks::new(found("FIRST"));
        let taken = looks.iter().map(|text| all.changed(found(text)).cloned());
        taken
            .map(|taken| taken.map_or("-".into(), |taken| taken.unwrap_or_else(|error| error)))
            .collect()
    }

    #[test]
    fn a_part_of_the_file_is_never_taken() {
        assert_eq!(
            taken(&["s", "se", "sec", "SECOND", "SECOND", "SECOND"]),
            ["-", "-", "-", "-", "SECOND", "-"]
        );
        // It is emptied first, and then written.
        assert_eq!(
            taken(&["", "SECOND", "", "SECOND", "SECOND"]),
            ["-", "-", "-", "-", "SECOND"]
        );
    }

    #[test]
    fn what_is_there_again_has_not_changed() {
        assert_eq!(taken(&["FIRST", "FIRST", "FIRST"]), ["-"; 3]);
        assert_eq!(taken(&["fir", "FIRST", "FIRST"]), ["-"; 3]);
        assert_eq!(taken(&["gone", "FIRST", "FIRST"]), ["-"; 3]);
    }

    #[test]
    fn what_is_wrong_is_taken_once_and_what_it_was_before_is_a_change() {
        assert_eq!(
            taken(&["gone", "gone", "gone", "FIRST", "FIRST", "gone", "gone"]),
            ["-", "gone", "-", "-", "FIRST", "-", "gone"]
        );
    }

    /// A change is there after a look at the latest, and taken by the second one that finds it.
    #[test]
    fn a_change_is_taken_within_a_second() {
        assert!(EVERY * 2 < Duration::from_secs(1));
    }
}
