//! `tollgate simulate`: what would these rules have done? Puts recorded requests through a rules file, at the times they came.

mod args;
mod calendar;
mod input;
mod ledger;
mod log;
mod numbers;
mod peer;
mod progress;
mod report;
mod shared;
mod trace;

use tollgate::RuleSet;
use tracing::level_filters::LevelFilter;

pub(crate) use self::args::SimulateArgs;
use self::{input::Input, ledger::Ledger, progress::Progress};
use crate::{
    args::OutputArgs,
    common::{failure::Failure, rules},
};

/// For a first try: what is built in.
const SAMPLE_RULES: &str = include_str!("sample.toml");
const SAMPLE_LOG: &str = include_str!("sample.log");

/// For a first try, on standard error.
const NOTICE: &str = "\
This is a sample. For files of your own: tollgate simulate --rules FILE --log FILE
(--help tells more)
";

pub(crate) fn run(args: &SimulateArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    let place = args.store.place()?;
    let rules = match &args.rules {
        Some(file) => rules::read(file)?,
        None => RuleSet::parse(SAMPLE_RULES)?,
    };
    let recorded = args.recording.trace.as_ref().or(args.recording.log.as_ref());
    let mut input = match recorded {
        Some(file) => Input::open(file)?,
        None => Input::text("sample.log", SAMPLE_LOG),
    };
    let ledger = Ledger::open(&place)?;
    if recorded.is_none() && !output.quiet {
        eprintln!("{NOTICE}");
    }
    if args.recording.trace.is_some() {
        let mut progress = Progress::of_answers(&input, output.quiet);
        trace::answer(&rules, &ledger, &mut input, &mut progress)
    } else {
        let mut progress = Progress::of_a_report(&input, output.quiet);
        log::report(&rules, &ledger, &mut input, &mut progress, args.user_header.as_ref())
    }
}
