//! Results on standard output, errors and logs on standard error, and the error type of subcommands.

use std::{
    fmt,
    io::{self, Write, stderr},
};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use tracing::{level_filters::LevelFilter, subscriber};
use tracing_subscriber::{filter::Targets, layer::SubscriberExt, registry};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Why a subcommand ends early.
pub(crate) enum Failure {
    /// The reader closed standard output.
    BrokenPipe,
    /// The arguments are invalid in a way that clap does not check. The process exits with 2.
    Usage(String),
    /// One line: what failed, and what to do.
    Message(String),
    /// The error is already printed.
    Reported,
}

impl Failure {
    /// An error of writing to standard output.
    pub(crate) fn from_write(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Message(format!("standard output: {error}")),
        }
    }
}

impl<E: fmt::Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Message(error.to_string())
    }
}

/// Prints an error in clap's format.
pub(crate) fn error(message: &str) {
    anstream::eprintln!("{ERROR}error:{ERROR:#} {message}");
}

/// Prints a warning.
pub(crate) fn warning(message: &str) {
    anstream::eprintln!("{WARNING}warning:{WARNING:#} {message}");
}

/// Prints a result to standard output.
pub(crate) fn print(result: &str) -> Result<(), Failure> {
    anstream::stdout()
        .write_all(result.as_bytes())
        .map_err(Failure::from_write)
}

/// Starts logging to standard error: events of tollgate only, none of its dependencies.
pub(crate) fn start_log(level: LevelFilter) {
    let targets = Targets::new().with_target("tollgate", level);
    let has_colors = AutoStream::choice(&stderr()) != anstream::ColorChoice::Never;
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(stderr)
        .with_ansi(has_colors);
    let log = registry().with(lines).with(targets);
    subscriber::set_global_default(log).expect("the log is started once");
}
