//! The command line tool as a process, in a pipe and on a terminal.

mod check;
mod commands;
mod documented;
mod generate;
mod keys;
mod output;
mod usage;

use std::{
    path::Path,
    process::{Command, Output},
};

use support::{
    folder::Folder,
    project::{self, program_path},
    terminal::on_a_terminal,
};

const SUBCOMMANDS: [&str; 9] = [
    "gateway",
    "service",
    "simulate",
    "playground",
    "check",
    "peek",
    "reset",
    "completions",
    "man",
];

/// A limit for each kind of key, with windows that do not end while a test runs.
const RULES: &str = r#"
[[limit]]
name = "all"
algorithm = "fixed_window"
limit = 1000
window = "3650d"
key = "global"

[[limit]]
name = "user"
algorithm = "fixed_window"
limit = 10
window = "3650d"
key = "header:x-user-id"
default = "ip"
plan = "header:x-plan"
plans.pro = { limit = 100 }

[[limit]]
name = "partner"
algorithm = "fixed_window"
limit = 10
window = "3650d"
key = "apikey:x-api-key"
default = "none"

[[limit]]
name = "tenant"
algorithm = "fixed_window"
limit = 10
window = "3650d"
key = ["query:tenant", "cookie:session", "method"]
default = "none"

[[limit]]
name = "pair"
algorithm = "fixed_window"
limit = 10
window = "3650d"
key = ["header:x-a", "header:x-b"]
default = "none"

[trust]
proxies = ["127.0.0.1"]
headers = ["x-plan"]
"#;

/// The exit code and the output of a run.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    output: String,
    errors: String,
}

impl Run {
    fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().unwrap();
        Self {
            code: status.code(),
            output: String::from_utf8(stdout).unwrap(),
            errors: String::from_utf8(stderr).unwrap(),
        }
    }

    /// In a pipe, without environment variables that force or disable colours.
    fn in_a_pipe(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(project::program("tollgate").args(arguments).current_dir(folder))
    }

    /// On a terminal, where standard output and standard error are one stream.
    fn on_a_terminal(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let quoted = arguments.iter().map(|argument| format!(" '{argument}'"));
        let command = format!("{}{}", program_path("tollgate").display(), quoted.collect::<String>());
        let mut script = on_a_terminal(&command);
        Self::of(script.current_dir(folder).envs(environment.iter().copied()))
    }

    /// The output of a run that must succeed without errors.
    #[track_caller]
    fn success(self) -> String {
        assert_eq!((self.code, &*self.errors), (Some(0), ""), "{}", self.output);
        self.output
    }

    /// The error of a run that must fail with one line.
    #[track_caller]
    fn failure(self) -> String {
        assert_eq!((self.code, &*self.output), (Some(1), ""), "{}", self.errors);
        let line = self.errors.strip_prefix("error: ").expect("it is an error");
        assert_eq!(line.lines().count(), 1, "{line}");
        line.trim_end().to_owned()
    }

    /// The run must fail with this usage error.
    #[track_caller]
    fn assert_usage_error(&self, message: &str) {
        assert_eq!((self.code, &*self.output), (Some(2), ""), "{}", self.errors);
        let first = self.errors.lines().next().unwrap_or_default();
        assert_eq!(first, format!("error: {message}"), "{}", self.errors);
        assert!(self.errors.contains("--help"), "{}", self.errors);
    }
}

/// A folder with a rules file in it.
fn folder_with(rules: &str) -> Folder {
    let folder = Folder::new("cli");
    std::fs::write(folder.file("rules.toml"), rules).unwrap();
    folder
}
