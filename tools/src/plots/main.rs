//! Draws the figures of the documentation: how each algorithm treats the same traffic, its worst-case over-admission, the accuracy
//! of the sliding counter compared with the exact log, what is decided under overload, and what limiters admitted against their limit.
//!
//! Run it with `cargo run -p tollgate-tools --bin plots`: it writes docs/img/*.svg and takes some seconds. See `--help`.

mod accuracy;
mod attack;
#[path = "../../../cli/src/common"]
mod common {
    pub(crate) mod grouped;
    pub(crate) mod peak_count;
}
#[path = "../../../benches/exactness/src/report"]
#[allow(dead_code, unreachable_pub, reason = "the package exactness writes results, too")]
mod exactness {
    pub(crate) mod results;
    pub(crate) mod systems;
}
#[path = "../exit.rs"]
mod exit;
mod figures;
mod percent;
#[path = "../../../tests/support/random.rs"]
#[allow(unreachable_pub, reason = "the tests import it from a crate")]
mod random;
mod replay;
mod svg;
mod trace;
mod traffic;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser;

/// Draw the figures of the documentation, from the algorithms, benches/RESULTS.md and benches/exactness/results.csv
///
/// Figures of algorithms run requests through their pure functions at fixed times, and `overload` and `exactness-*` draw measured
/// results, so every run on every machine draws the same SVG. The program prints the files that it wrote and the numbers in them. It exits with 0 on success, with 1 if a file cannot be
/// written, and with 2 on invalid arguments.
#[derive(Parser)]
#[command(name = "plots")]
struct PlotsArgs {
    /// The output directory, created if it does not exist
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/img"), hide_default_value = true)]
    out: PathBuf,
}

fn main() -> ExitCode {
    let PlotsArgs { out } = PlotsArgs::parse();
    exit::exit_code(draw(&out).map_err(|error| format!("{}: {error}", out.display())))
}

fn draw(out: &Path) -> io::Result<()> {
    fs::create_dir_all(out)?;
    for figure in figures::all() {
        let file = out.join(figure.name).with_extension("svg");
        fs::write(&file, figure.svg)?;
        println!("{}", file.display());
        for fact in figure.facts {
            println!("  {fact}");
        }
    }
    Ok(())
}
