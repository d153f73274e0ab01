//! The arguments of `tollgate check`.

use std::path::PathBuf;

use clap::Args;

/// Check rules files, and whether a Redis is fit for limits
///
/// Everything that is wrong is shown with its line, its column and the line itself. With --store, a limit of its own is charged,
/// corrected and forgotten there, so that what would fail later fails now: a version that is too old, scripts that cannot run,
/// rights that are missing.
#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The rules files. One can be - for standard input
    #[arg(value_name = "FILE", required_unless_present = "store")]
    pub(crate) files: Vec<PathBuf>,
    /// A Redis to check too: `redis://HOST:PORT`
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// What all keys in Redis begin with [default: rate_limit]
    #[arg(long, value_name = "PREFIX", requires = "store")]
    pub(crate) prefix: Option<String>,
}
