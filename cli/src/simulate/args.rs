//! The arguments of `tollgate simulate`.

use std::path::PathBuf;

use clap::Args;
use http::HeaderName;

use crate::common::store::StoreArgs;

const AFTER_HELP: &str = "\
FILE can be - for standard input. There is no router here: limits by route that
name no path count all requests as one.

A request of a trace is, in one line,
  {\"at_us\":1700000000000000,\"method\":\"GET\",\"path\":\"/api/x\",
   \"headers\":{\"x-user-id\":\"u1\"},\"ip\":\"203.0.113.7\",\"cost\":1}
All but at_us, microseconds since 1970, may be left out. docs/simulate.md has
the formats that it reads and writes.";

/// Replay an access log or a trace through a rules file: what would these rules have done?
///
/// Nothing is sent to anybody, and every run starts from nothing. Without arguments it reports on a sample that is built in.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SimulateArgs {
    /// The rules to try
    #[arg(long, value_name = "FILE", requires = "recording")]
    pub(crate) rules: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
    /// Send the log's user as this header, so that rules can count by user. If [trust] of the rules lists the header, it is
    /// ignored: it comes from the client
    #[arg(long, value_name = "NAME", requires = "log", conflicts_with = "trace")]
    pub(crate) user_header: Option<HeaderName>,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
}

/// What happened once.
#[derive(Args)]
#[group(id = "recording", multiple = false, requires = "rules")]
pub(crate) struct RecordingArgs {
    /// An access log in the Common or the Combined Log Format: reports what was admitted and denied by which limit, the top keys
    /// and the worst minutes
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// A JSON object a line, each a request: answers each with a line of JSON, in order
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}
