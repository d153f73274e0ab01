//! How a tool exits: with 0, or with 1 if it could not do what it was asked. Clap exits with 2 where the arguments are wrong.

use std::{fmt::Display, process::ExitCode};

pub(crate) fn ended(outcome: Result<(), impl Display>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}
