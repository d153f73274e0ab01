//! Results on standard output and errors on standard error, with colours where the terminal has them.

use std::io::Write;

use anstyle::{AnsiColor, Style};

use super::failure::Failure;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// As clap prints errors.
pub(crate) fn error(reason: &str) {
    anstream::eprintln!("{ERROR}error:{ERROR:#} {reason}");
}

/// Something that does not fail yet.
pub(crate) fn warning(what: &str) {
    anstream::eprintln!("{WARNING}warning:{WARNING:#} {what}");
}

/// Prints a result to standard output.
pub(crate) fn print(result: &str) -> Result<(), Failure> {
    anstream::stdout()
        .write_all(result.as_bytes())
        .map_err(Failure::of_writing)
}
