//! Why a run ends before its end.

use std::{fmt, io};

pub(crate) enum Failure {
    /// Nobody reads what is written.
    Unheard,
    /// Something to tell.
    Because(String),
}

impl Failure {
    pub(crate) fn of_writing(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Unheard,
            _ => Self::Because(format!("standard output: {error}")),
        }
    }
}

impl<E: fmt::Display> From<E> for Failure {
    fn from(reason: E) -> Self {
        Self::Because(reason.to_string())
    }
}
