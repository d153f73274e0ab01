//! What the command line asks for.

use std::{ffi::OsString, path::PathBuf};

pub(crate) const HELP: &str = "\
Draws the figures of the documentation, from the algorithms themselves: each puts requests through their pure functions,
at named times. Every run on every machine draws the same.

  cargo run --example plots -- [--out DIR]

  --out DIR   where to write them, docs/img unless told otherwise; it is made if it is not there

It prints which files it wrote and the figures in them. It exits with 0 when it is done, with 1 when a file cannot be
written, and with 2 when it was called the wrong way.
";

const FIGURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/img");

pub(crate) enum Job {
    Help,
    Draw { out: PathBuf },
}

impl Job {
    pub(crate) fn read(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut out = PathBuf::from(FIGURES);
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--help" | "-h") => return Ok(Self::Help),
                Some("--out") => out = arguments.next().ok_or("--out needs a folder")?.into(),
                _ => {
                    let unknown = argument.display();
                    return Err(format!("there is no option {unknown}: there are --out and --help"));
                }
            }
        }
        Ok(Self::Draw { out })
    }
}
