//! The simulator as a process: its input and its output.

mod concurrency;
mod leases;
mod log;
mod long;
mod nginx;
mod options;
mod random;
mod redis;
mod report;
mod terminal;
mod trace;
mod vectors;

use std::process::{Command, Output};

use support::{folder::Folder, project::tollgate};

/// The output and the exit code of a run.
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

    /// The output of a run that must succeed.
    #[track_caller]
    fn success(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.errors);
        self.output
    }

    /// The errors of a run that must fail.
    #[track_caller]
    fn failure(self) -> String {
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

/// A folder with a rules file and a trace or log.
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

    fn new(kind: &'static str, rules: &str, input: &[u8]) -> Self {
        let folder = Folder::new("simulate");
        std::fs::write(folder.file("rules.toml"), rules).unwrap();
        std::fs::write(folder.file("input"), input).unwrap();
        Self { folder, kind }
    }

    /// The command, in the folder of the files.
    fn command(&self) -> Command {
        let mut command = tollgate("simulate");
        command.current_dir(self.folder.path());
        command.args(["--rules", "rules.toml", self.kind, "input"]);
        command
    }

    fn run(&self, options: &[&str]) -> Run {
        let mut command = self.command();
        command.args(options);
        Run::of(command)
    }
}

/// A limit by name, algorithm and the rest of its fields.
fn limit(name: &str, algorithm: &str, rest: &str) -> String {
    format!("[[limit]]\nname = \"{name}\"\nalgorithm = \"{algorithm}\"\n{rest}\n")
}

/// Two requests a minute per address, in calendar minutes.
fn two_per_minute() -> String {
    limit("client", "fixed_window", "limit = 2\nwindow = \"1m\"\nkey = \"ip\"")
}
