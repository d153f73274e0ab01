//! `tollgate simulate`: replays recorded requests through a rules file, at their recorded times.

mod args;
mod calendar;
mod format;
mod input;
mod log;
mod progress;
mod replay;
mod report;
mod scratch_redis;
mod store;
mod trace;

use std::net::{IpAddr, SocketAddr};

use http::Extensions;
use tollgate::{RuleSet, extract::NoPeerAddr};
use tracing::level_filters::LevelFilter;

pub(crate) use self::args::SimulateArgs;
use self::{input::Input, progress::Progress, replay::Replay};
use crate::{
    args::OutputArgs,
    common::{output::Failure, rules},
};

const SAMPLE_RULES: &str = include_str!("sample.toml");
const SAMPLE_LOG: &str = include_str!("sample.log");

const SAMPLE_NOTICE: &str = "\
This is a sample. For your own files: tollgate simulate --rules FILE --log FILE
(see --help)
";

pub(crate) fn run(args: &SimulateArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    let config = args.store.config()?;
    let rules = match &args.rules {
        Some(file) => rules::read(file)?,
        None => RuleSet::parse(SAMPLE_RULES)?,
    };
    let recording = args.recording.trace.as_ref().or(args.recording.log.as_ref());
    let mut input = match recording {
        Some(file) => Input::open(file)?,
        None => Input::text("sample.log", SAMPLE_LOG),
    };
    let mut replay = Replay::new(&config)?;
    if recording.is_none() && !output.quiet {
        eprintln!("{SAMPLE_NOTICE}");
    }
    if args.recording.trace.is_some() {
        let mut progress = Progress::of_trace(&input, output.quiet);
        trace::replay(&rules, &mut replay, &mut input, &mut progress)
    } else {
        let mut progress = Progress::of_log(&input, output.quiet);
        log::replay(&rules, &mut replay, &mut input, &mut progress, args.log_options())
    }
}

/// Sets the peer address of a request. Recordings do not contain the port.
fn set_peer(extensions: &mut Extensions, address: Option<IpAddr>) {
    let Some(address) = address else {
        extensions.remove::<SocketAddr>();
        extensions.insert(NoPeerAddr);
        return;
    };
    match extensions.get_mut::<SocketAddr>() {
        Some(peer) => peer.set_ip(address),
        None => drop(extensions.insert(SocketAddr::new(address, 0))),
    }
}
