//! Reloading a rules file when it changes.
//!
//! The watcher polls the file several times per second and compares its content with the previous one. Polling detects every kind
//! of change: writes in place, replaced files, symbolic links and network file systems. Rules files are small.

use std::{
    io,
    path::{self, Path},
    thread,
    time::Duration,
};

use super::{
    error::RulesError,
    set::{RuleSet, WeakRuleSet, read_text},
};

/// The interval between polls. A change is applied when two polls read the same content, so within two intervals.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The text of the file, or the error of reading it.
type Content = Result<String, String>;

impl RuleSet {
    /// Reads a rules file and reloads it when it changes, within a second.
    ///
    /// New rules replace the old ones atomically. If they are invalid, or the file is missing or defines no limit, the old rules
    /// stay in force and the diagnostics are logged as an error. Counters are kept if a limit keeps its name, algorithm and
    /// window. Requests in flight keep the rules that they started with; their charges are settled and refunded by the new ones.
    ///
    /// A background thread polls the file until the last clone of the rules is dropped.
    ///
    /// ```no_run
    /// use tollgate::{MemoryStore, RuleSet, RulesLayer};
    ///
    /// let rules = RuleSet::watch("rules.toml")?;
    /// let app: axum::Router = axum::Router::new().layer(RulesLayer::new(rules, MemoryStore::new()));
    /// # let _ = app;
    /// # Ok::<(), tollgate::RulesError>(())
    /// ```
    pub fn watch(file: impl AsRef<Path>) -> Result<Self, RulesError> {
        let file = file.as_ref();
        let rules = Self::read(file)?;
        let unwatchable = |error| RulesError::unusable(format_args!("it cannot be watched: {error}")).in_file(file);
        spawn(file, rules.text(), rules.downgrade()).map_err(unwatchable)?;
        Ok(rules)
    }
}

/// Spawns the thread that polls a file whose text is already applied.
fn spawn(file: &Path, text: String, rules: WeakRuleSet) -> io::Result<()> {
    // Absolute, so that a change of the working directory does not select another file.
    let file = path::absolute(file)?;
    let thread = thread::Builder::new().name("tollgate-rules".into());
    thread.spawn(move || poll(&file, Ok(text), &rules)).map(drop)
}

/// Polls a file until the rules are dropped.
fn poll(file: &Path, applied: Content, rules: &WeakRuleSet) {
    let mut detector = ChangeDetector::new(applied);
    loop {
        thread::sleep(POLL_INTERVAL);
        let Some(rules) = rules.upgrade() else {
            return;
        };
        let content = read_text(file).map_err(|error| error.to_string());
        if let Some(changed) = detector.observe(content) {
            apply(&rules, file, changed);
        }
    }
}

/// Compares the content of a file between polls.
struct ChangeDetector {
    previous: Content,
    applied: Content,
}

impl ChangeDetector {
    fn new(applied: Content) -> Self {
        let previous = applied.clone();
        Self { previous, applied }
    }

    /// Returns the content to apply, if it changed. A partially written file may parse as valid rules, so content is applied only
    /// when two consecutive polls read it.
    fn observe(&mut self, content: Content) -> Option<&Content> {
        let is_stable = content == self.previous;
        self.previous = content;
        if !is_stable || self.previous == self.applied {
            return None;
        }
        self.applied.clone_from(&self.previous);
        Some(&self.applied)
    }
}

fn apply(rules: &RuleSet, file: &Path, content: &Content) {
    let replaced = match content {
        // One line of a log.
        Ok(text) => rules
            .replace(text)
            .map_err(|error| error.to_string().replace('\n', "; ")),
        Err(error) => Err(error.clone()),
    };
    let file = file.display();
    match replaced {
        Ok(()) => {
            tracing::info!(target: "tollgate::rules", %file, limits = rules.limits().len(), "rules reloaded");
        }
        Err(error) => {
            tracing::error!(target: "tollgate::rules", %file, %error, "invalid rules: the previous rules stay in force");
        }
    }
}

#[cfg(test)]
mod tests;
