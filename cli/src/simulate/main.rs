//! What would these rules have done? Puts recorded requests through a rules file, at the times they came.
//!
//! Run it with `cargo run -p tollgate-cli --bin simulate`: a small sample is there to try. `--help` tells how to give it rules, an
//! access log or a trace of your own.

mod arguments;
mod calendar;
#[path = "../common"]
mod common {
    pub(crate) mod given;
    pub(crate) mod grouped;
    pub(crate) mod place;
    pub(crate) mod program;
    pub(crate) mod signals;
    pub(crate) mod unique;
    pub(crate) mod value;
}
mod failure;
mod input;
mod ledger;
mod log;
mod numbers;
mod peer;
mod progress;
mod report;
mod shared;
mod trace;

use std::{env, process::ExitCode};

use arguments::{HELP, Job, Options, Recording};
use common::program;
use failure::Failure;
use input::Input;
use ledger::Ledger;
use progress::Progress;
use tollgate::RuleSet;

/// For whoever has nothing to try yet.
const NOTICE: &str = "\
This is a sample. For files of your own: cargo run -p tollgate-cli --bin simulate -- --rules FILE --log FILE
(--help tells more)
";

fn main() -> ExitCode {
    match Job::read(env::args_os().skip(1)) {
        Ok(Job::Help) => program::help(HELP),
        Ok(Job::Simulate(options)) => ended(simulate(&options)),
        Ok(Job::Sample) => {
            eprintln!("{NOTICE}");
            ended(simulate(&Options::sample()))
        }
        Err(wrong) => program::misused(&wrong),
    }
}

fn ended(outcome: Result<(), Failure>) -> ExitCode {
    program::ended(match outcome {
        // Whoever reads the answers has had enough of them.
        Ok(()) | Err(Failure::Unheard) => Ok(()),
        Err(Failure::Because(reason)) => Err(reason),
    })
}

fn simulate(options: &Options) -> Result<(), Failure> {
    let rules = RuleSet::read(&options.rules)?;
    let mut input = Input::open(options.recording.file())?;
    let ledger = Ledger::open(&options.store)?;
    match &options.recording {
        Recording::Trace(_) => {
            let mut progress = Progress::of_answers(&input);
            trace::answer(&rules, &ledger, &mut input, &mut progress)
        }
        Recording::Log { user_header, .. } => {
            let mut progress = Progress::of_a_report(&input);
            log::report(&rules, &ledger, &mut input, &mut progress, user_header.as_ref())
        }
    }
}
