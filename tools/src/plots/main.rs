//! Draws the figures of the documentation: what each algorithm does with the same traffic, how much it lets through at worst,
//! and how close the sliding counter comes to the exact log.
//!
//! Run it with `cargo run -p tollgate-tools --bin plots`: it writes docs/img/*.svg and takes some seconds. `--help` tells the rest.

mod accuracy;
mod args;
mod attack;
#[path = "../../../cli/src/common"]
mod common {
    pub(crate) mod busiest;
    pub(crate) mod grouped;
}
#[path = "../exit.rs"]
mod exit;
mod figures;
mod heavy_tail;
#[path = "../../../tests/support/random.rs"]
#[allow(unreachable_pub, reason = "the tests have it from a crate")]
mod random;
mod replay;
mod share;
mod svg;
mod trace;
mod traffic;

use std::{fs, io, path::Path, process::ExitCode};

use args::PlotsArgs;
use clap::Parser;

fn main() -> ExitCode {
    let PlotsArgs { out } = PlotsArgs::parse();
    exit::ended(draw(&out).map_err(|error| format!("{}: {error}", out.display())))
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
