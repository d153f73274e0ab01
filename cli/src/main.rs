//! Rate limits for operators: one program, and a subcommand for each job.
//!
//! `cargo install --path cli` installs it as `tollgate`; in the clone, `cargo run -p tollgate-cli -- --help` lists the subcommands.
//! docs/cli.md shows a run of each.

mod args;
mod check;
mod common;
mod gateway;
mod generate;
mod keys;
mod playground;
mod simulate;

use std::process::ExitCode;

use args::{Cli, Command};
use common::failure::Failure;

fn main() -> ExitCode {
    let Cli { command, output } = Cli::read();
    let name = command.name();
    let outcome = match command {
        Command::Gateway(args) => gateway::run(*args, output),
        Command::Simulate(args) => simulate::run(&args, output),
        Command::Playground(args) => playground::run(&args, output),
        Command::Check(args) => check::run(&args, output),
        Command::Peek(args) => keys::peek(&args, output),
        Command::Reset(args) => keys::reset(&args, output),
        Command::Completions(args) => generate::completions(&args),
        Command::Man(args) => generate::man_page(&args),
    };
    match outcome {
        // A reader that closes the pipe has read enough.
        Ok(()) | Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => args::usage_error(name, message).exit(),
        Err(Failure::Because(reason)) => {
            common::output::error(&reason);
            ExitCode::FAILURE
        }
        Err(Failure::Reported) => ExitCode::FAILURE,
    }
}
