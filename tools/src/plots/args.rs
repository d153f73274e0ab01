//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Draw the figures of the documentation, from the algorithms themselves
///
/// Each figure puts requests through their pure functions, at named times, so every run on every machine draws the same. It prints
/// which files it wrote and the figures in them. It exits with 0 when it is done, with 1 when a file cannot be written, and with 2
/// when it was called the wrong way.
#[derive(Parser)]
#[command(name = "plots")]
pub(crate) struct PlotsArgs {
    /// Where to write them; it is made if it is not there
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/img"), hide_default_value = true)]
    pub(crate) out: PathBuf,
}
