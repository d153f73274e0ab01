//! `tollgate check`: whether a rules file is right, and whether a Redis is fit for limits.

mod args;
mod store;

use std::{fmt::Write, path::Path};

use tollgate::RuleSet;
use tracing::level_filters::LevelFilter;

pub(crate) use self::args::CheckArgs;
use crate::{
    args::OutputArgs,
    common::{failure::Failure, output, rules, runtime, store::Redis},
};

/// Checks everything, though the first of it may be wrong.
pub(crate) fn run(args: &CheckArgs, output: OutputArgs) -> Result<(), Failure> {
    output.start_log(LevelFilter::OFF);
    let redis = args.store.as_ref().map(|url| Redis::new(url, args.prefix.as_deref()));
    let redis = redis.transpose()?;
    let mut outcome = Ok(());
    for file in &args.files {
        match rules::read(file) {
            Ok(rules) if !output.quiet => output::print(&summary(file, &rules))?,
            Ok(_) => {}
            Err(failure) => outcome = failed(failure),
        }
    }
    if let Some(redis) = redis {
        match runtime::of_this_thread()?.block_on(store::check(&redis)) {
            Ok(fit) => {
                if !output.quiet {
                    output::print(&format!("{}\n", fit.description))?;
                }
                if let Some(warning) = fit.warning {
                    output::warning(&warning);
                }
            }
            Err(reason) => outcome = failed(reason.into()),
        }
    }
    outcome
}

fn failed(failure: Failure) -> Result<(), Failure> {
    if let Failure::Because(reason) = &failure {
        output::error(reason);
    }
    Err(Failure::Reported)
}

fn summary(file: &Path, read: &RuleSet) -> String {
    let limits = read.limits();
    let plural = if limits.len() == 1 { "" } else { "s" };
    let mut text = format!(
        "{}: nothing is wrong: {} limit{plural}\n",
        rules::name(file),
        limits.len()
    );
    let width = limits.iter().map(|limit| limit.name().len()).max().unwrap_or_default();
    for limit in limits {
        let (name, rule) = (limit.name(), limit.rule());
        writeln!(text, "  {name:width$}  {}, {}", rule.quota(), rule.name()).expect("a string takes any text");
    }
    text
}
