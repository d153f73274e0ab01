//! How a program ends: with 0, with 1 if it could not do what it was asked, and with 2 if it was called the wrong way.

use std::{
    fmt::Display,
    io::{Write, stdout},
    process::ExitCode,
};

const FAILED: u8 = 1;
const MISUSED: u8 = 2;

pub(crate) fn help(text: &str) -> ExitCode {
    // Whoever has read enough may close the pipe.
    stdout().write_all(text.as_bytes()).ok();
    ExitCode::SUCCESS
}

pub(crate) fn misused(wrong: &str) -> ExitCode {
    eprintln!("{wrong}\n`--help` tells more");
    MISUSED.into()
}

pub(crate) fn ended(outcome: Result<(), impl Display>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            FAILED.into()
        }
    }
}
