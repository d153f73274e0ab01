//! The tool for operators, as a program of its own: in a pipe and on a terminal.

mod check;
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

const SUBCOMMANDS: [&str; 8] = [
    "gateway",
    "simulate",
    "playground",
    "check",
    "peek",
    "reset",
    "completions",
    "man",
];

/// A limit by each kind of key, none of which ends while a test runs.
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

/// What a run came to.
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

    /// In a pipe, and where nobody wants colours or not.
    fn in_a_pipe(folder: &Path, arguments: &[&str]) -> Self {
        Self::of(project::program("tollgate").args(arguments).current_dir(folder))
    }

    /// On a terminal, which has one stream for both.
    fn on_a_terminal(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let quoted = arguments.iter().map(|argument| format!(" '{argument}'"));
        let command = format!("{}{}", program_path("tollgate").display(), quoted.collect::<String>());
        let mut script = on_a_terminal(&command);
        Self::of(script.current_dir(folder).envs(environment.iter().copied()))
    }

    /// All of it is as it should be, and nothing was said beside.
    #[track_caller]
    fn done(self) -> String {
        assert_eq!((self.code, &*self.errors), (Some(0), ""), "{}", self.output);
        self.output
    }

    /// It has failed, and printed one line that says why.
    #[track_caller]
    fn failed(self) -> String {
        assert_eq!((self.code, &*self.output), (Some(1), ""), "{}", self.errors);
        let line = self.errors.strip_prefix("error: ").expect("it is an error");
        assert_eq!(line.lines().count(), 1, "{line}");
        line.trim_end().to_owned()
    }

    /// It was called the wrong way, and these words say how.
    #[track_caller]
    fn is_misused(&self, words: &str) {
        assert_eq!((self.code, &*self.output), (Some(2), ""), "{}", self.errors);
        let first = self.errors.lines().next().unwrap_or_default();
        assert_eq!(first, format!("error: {words}"), "{}", self.errors);
        assert!(self.errors.contains("--help"), "{}", self.errors);
    }
}

/// A folder with a rules file in it.
fn folder_with(rules: &str) -> Folder {
    let folder = Folder::new("cli");
    std::fs::write(folder.file("rules.toml"), rules).unwrap();
    folder
}
