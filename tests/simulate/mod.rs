//! The simulator, as a program: what it is given, and what it says.

mod calendar;
mod log;
mod long;
mod options;
mod random;
mod redis;
mod report;
mod terminal;
mod trace;
mod vectors;

use std::process::{Command, Output};

use support::{folder::Folder, project::tollgate};

/// What the program wrote, and how it ended.
struct Run {
    output: String,
    errors: String,
    code: Option<i32>,
}

impl Run {
    fn of(mut command: Command) -> Self {
        command.output().unwrap().into()
    }

    fn lines(&self) -> Vec<&str> {
        self.output.lines().collect()
    }

    /// What it wrote, if all went well.
    #[track_caller]
    fn done(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.errors);
        self.output
    }

    /// What it said was wrong, after nothing else.
    #[track_caller]
    fn failed(self) -> String {
        assert_eq!(self.code, Some(1), "{}", self.errors);
        self.errors
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            output: text(output.stdout),
            errors: text(output.stderr),
            code: output.status.code(),
        }
    }
}

/// Rules and what happened, in files of their own.
struct Case {
    folder: Folder,
    /// `--trace` or `--log`.
    kind: &'static str,
}

impl Case {
    fn trace(rules: &str, trace: impl AsRef<[u8]>) -> Self {
        Self::new("--trace", rules, trace.as_ref())
    }

    fn log(rules: &str, log: impl AsRef<[u8]>) -> Self {
        Self::new("--log", rules, log.as_ref())
    }

    fn new(kind: &'static str, rules: &str, happened: &[u8]) -> Self {
        let folder = Folder::new("simulate");
        std::fs::write(folder.file("rules.toml"), rules).unwrap();
        std::fs::write(folder.file("happened"), happened).unwrap();
        Self { folder, kind }
    }

    /// The program that is to be run, in the files' folder.
    fn command(&self) -> Command {
        let mut command = tollgate("simulate");
        command.current_dir(self.folder.path());
        command.args(["--rules", "rules.toml", self.kind, "happened"]);
        command
    }

    fn run(&self, more: &[&str]) -> Run {
        let mut command = self.command();
        command.args(more);
        Run::of(command)
    }
}

/// A limit by name, algorithm and the rest of its fields.
fn limit(name: &str, algorithm: &str, rest: &str) -> String {
    format!("[[limit]]\nname = \"{name}\"\nalgorithm = \"{algorithm}\"\n{rest}\n")
}

/// Two a minute for each address, by the calendar.
fn two_a_minute() -> String {
    limit("client", "fixed_window", "limit = 2\nwindow = \"1m\"\nkey = \"ip\"")
}
