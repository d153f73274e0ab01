//! `tollgate check`: validates rules files and checks that a Redis can be used as a store.

mod store;

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use tollgate::RuleSet;
use tracing::level_filters::LevelFilter;

use crate::{
    args::OutputArgs,
    common::{
        limit_summary::rules_summary,
        output::{self, Failure},
        rules, runtime,
        store::{RedisConfig, STORE_VARIABLE},
    },
};

/// Validate rules files, and check that a Redis can be used as a store
///
/// Prints every error with line, column and source line. With --store, it charges, settles and resets a test limit in Redis, to
/// detect problems before a deployment: an unsupported version, disabled scripts, missing permissions.
#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The rules files, or - for standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["store", "rules"])]
    files: Vec<PathBuf>,
    /// A rules file, as other subcommands take it
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// A Redis to check: `redis://HOST:PORT`
    #[arg(long, value_name = "URL", env = STORE_VARIABLE, hide_env_values = true)]
    pub(crate) store: Option<String>,
    /// The prefix of all keys in Redis [default: rate_limit]
    #[arg(long, value_name = "PREFIX", requires = "store")]
    pub(crate) prefix: Option<String>,
}

/// Checks all files and the Redis, also after the first error.
pub(crate) fn run(args: &CheckArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    let files = || args.files.iter().chain(&args.rules);
    // The variable may be set to `memory` for other subcommands.
    let store = args
        .store
        .as_ref()
        .filter(|url| *url != "memory" || files().next().is_none());
    let redis = store.map(|url| RedisConfig::new(url, args.prefix.as_deref()));
    let redis = redis.transpose()?;
    let mut outcome = Ok(());
    for file in files() {
        match rules::read(file) {
            Ok(rules) if !output.quiet => print(&summary(file, &rules))?,
            Ok(_) => {}
            Err(failure) => outcome = failed(failure),
        }
    }
    if let Some(redis) = redis {
        match runtime::current_thread()?.block_on(store::check(&redis)) {
            Ok(report) => {
                if !output.quiet {
                    print(&format!("{}\n", report.description))?;
                }
                if let Some(warning) = report.warning {
                    output::warning(&warning);
                }
            }
            Err(message) => outcome = failed(message.into()),
        }
    }
    outcome
}

/// Ignores that standard output is closed: the exit code tells what was found.
fn print(text: &str) -> Result<(), Failure> {
    match output::print(text) {
        Err(Failure::BrokenPipe) => Ok(()),
        result => result,
    }
}

fn failed(failure: Failure) -> Result<(), Failure> {
    if let Failure::Message(message) = &failure {
        output::error(message);
    }
    Err(Failure::Reported)
}

fn summary(file: &Path, rules: &RuleSet) -> String {
    let limits = rules_summary(rules);
    let plural = if limits.len() == 1 { "" } else { "s" };
    let mut text = format!("{}: valid, {} limit{plural}\n", rules::name(file), limits.len());
    let width = limits.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, summary) in limits {
        writeln!(text, "  {name:width$}  {summary}").expect("writing to a string does not fail");
    }
    text
}
