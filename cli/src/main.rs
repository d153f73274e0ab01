//! The `tollgate` command-line tool: a rate-limiting gateway, a rate limit service and tools for operators, as subcommands.
//!
//! `cargo install --path cli` installs it; `cargo run -p tollgate-cli -- --help` runs it from a clone. docs/cli.md shows a run
//! of each subcommand.

mod args;
mod check;
mod common;
mod gateway;
mod generate;
mod keys;
mod playground;
mod server;
mod service;
mod simulate;

use std::process::ExitCode;

use args::{Cli, Command};
use common::output::Failure;

fn main() -> ExitCode {
    let Cli { command, output } = Cli::parse_args();
    let name = command.name();
    let outcome = match command {
        Command::Gateway(args) => gateway::run(&args, output),
        Command::Service(args) => service::run(&args, output),
        Command::Simulate(args) => simulate::run(&args, output),
        Command::Playground(args) => playground::run(&args, output),
        Command::Check(args) => check::run(&args, output),
        Command::Peek(args) => keys::peek(&args, output),
        Command::Reset(args) => keys::reset(&args, output),
        Command::Completions(args) => generate::completions(&args),
        Command::Man(args) => generate::man_page(&args),
    };
    match outcome {
        // A closed pipe is not an error: `tollgate .. | head`.
        Ok(()) | Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => args::usage_error(name, message).exit(),
        Err(Failure::Message(message)) => {
            common::output::error(&message);
            ExitCode::FAILURE
        }
        Err(Failure::Reported) => ExitCode::FAILURE,
    }
}
