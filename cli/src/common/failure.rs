//! Why a subcommand ends before it is done.

use std::{fmt, io};

pub(crate) enum Failure {
    /// Standard output was closed by its reader.
    BrokenPipe,
    /// The arguments are wrong in a way that clap does not check. The program exits with 2.
    Usage(String),
    /// One line that says what failed, and what to do.
    Because(String),
    /// Everything there is to say has been printed.
    Reported,
}

impl Failure {
    pub(crate) fn of_writing(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Because(format!("standard output: {error}")),
        }
    }
}

impl<E: fmt::Display> From<E> for Failure {
    fn from(reason: E) -> Self {
        Self::Because(reason.to_string())
    }
}
