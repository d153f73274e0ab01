//! The exit code of a tool: 0 on success, 1 on failure. Clap exits with 2 on invalid arguments.

use std::{fmt::Display, process::ExitCode};

pub(crate) fn exit_code(result: Result<(), impl Display>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
