//! The arguments of `tollgate simulate`.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use http::HeaderName;

use super::{log::LogOptions, replay::MAX_HELD};
use crate::common::{duration::parse_duration, store::StoreArgs};

const AFTER_HELP: &str = "\
With --store redis://HOST:PORT, counters have a prefix of their own, below
--prefix if that is given, and are deleted at the end.

FILE can be - for standard input. There is no router, so a limit by route
without a path counts all requests under one key.

A request of a trace is one line:
  {\"at_us\":1700000000000000,\"method\":\"GET\",\"path\":\"/api/x\",
   \"headers\":{\"x-user-id\":\"u1\"},\"ip\":\"203.0.113.7\",\"cost\":1,
   \"duration_us\":250000}
Only at_us is required, in microseconds since 1970. For duration_us, the request
holds its slot of a concurrency limit. docs/simulate.md describes the input and
output formats.";

/// Replay an access log or a trace through a rules file, and report what the rules would have done
///
/// No requests are sent, and every run starts with unused limits. Without arguments it replays a built-in sample.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SimulateArgs {
    /// The rules file
    #[arg(long, value_name = "FILE", requires = "recording")]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
    /// Set this header to the user of the log, so that limits can count by user. It is ignored if [trust] of the rules file
    /// lists the header, since the client sends it
    #[arg(long, value_name = "NAME", requires = "log", conflicts_with = "trace")]
    user_header: Option<HeaderName>,
    /// How long each request of the log takes, like 250ms: so long it holds its slot of a concurrency limit
    #[arg(long, value_name = "TIME", value_parser = parse_held, requires = "log", conflicts_with = "trace")]
    duration: Option<Duration>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

impl SimulateArgs {
    pub(crate) fn log_options(&self) -> LogOptions<'_> {
        LogOptions {
            user_header: self.user_header.as_ref(),
            duration: self.duration.unwrap_or_default(),
        }
    }
}

/// Clap prefixes errors with the option and the value.
fn parse_held(value: &str) -> Result<Duration, String> {
    let duration = parse_duration(value)?;
    match duration < MAX_HELD {
        true => Ok(duration),
        false => Err("the duration must be less than a day".into()),
    }
}

/// The recorded requests.
#[derive(Args)]
#[group(id = "recording", multiple = false, requires = "rules")]
pub(crate) struct RecordingArgs {
    /// An access log in the Common or Combined Log Format. Prints a report of admitted and denied requests by limit, with the
    /// top keys and the worst minutes
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// A trace with one request per line, as JSON. Prints the decision about each as a line of JSON, in order
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}
