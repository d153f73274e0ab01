//! What would these rules have done? Puts recorded requests through a rules file, at the times they came.
//!
//! Run it with `cargo run --example simulate`: a small sample is there to try. `--help` tells how to give it rules, an
//! access log or a trace of your own.

mod arguments;
mod failure;
mod input;
mod ledger;
mod log;
mod numbers;
mod pace;
mod peer;
mod report;
mod shared;
mod signals;
mod trace;

use std::{
    env,
    io::{Write, stdout},
    process::ExitCode,
};

use arguments::{HELP, Job, Options, Recording};
use failure::Failure;
use input::Input;
use ledger::Ledger;
use pace::Pace;
use tollgate::RuleSet;

/// The run could not be finished.
const FAILED: u8 = 1;
/// Nothing was tried.
const MISUSED: u8 = 2;

fn main() -> ExitCode {
    let outcome = match Job::read(env::args_os().skip(1)) {
        Ok(Job::Help) => stdout().write_all(HELP.as_bytes()).map_err(Failure::of_writing),
        Ok(Job::Simulate(options)) => simulate(&options),
        Err(wrong) => {
            eprintln!("{wrong}\n`cargo run --example simulate -- --help` tells more");
            return MISUSED.into();
        }
    };
    match outcome {
        // Whoever reads the answers has had enough of them.
        Ok(()) | Err(Failure::Unheard) => ExitCode::SUCCESS,
        Err(Failure::Because(reason)) => {
            eprintln!("{reason}");
            FAILED.into()
        }
    }
}

fn simulate(options: &Options) -> Result<(), Failure> {
    let rules = RuleSet::read(&options.rules)?;
    let mut input = Input::open(options.recording.file())?;
    let ledger = Ledger::open(&options.store)?;
    match &options.recording {
        Recording::Trace(_) => {
            let mut pace = Pace::of_answers(&input);
            trace::answer(&rules, &ledger, &mut input, &mut pace)
        }
        Recording::Log { user_header, .. } => {
            let mut pace = Pace::of_a_report(&input);
            log::report(&rules, &ledger, &mut input, &mut pace, user_header.as_ref())
        }
    }
}
