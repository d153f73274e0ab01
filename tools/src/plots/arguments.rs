//! What the command line asks for.

use std::{ffi::OsString, path::PathBuf};

use crate::common::given::{Given, Known};

pub(crate) const HELP: &str = "\
Draws the figures of the documentation, from the algorithms themselves: each puts requests through their pure functions,
at named times. Every run on every machine draws the same.

  cargo run -p tollgate-tools --bin plots -- [--out DIR]

  --out DIR   where to write them, docs/img unless told otherwise; it is made if it is not there

It prints which files it wrote and the figures in them. It exits with 0 when it is done, with 1 when a file cannot be
written, and with 2 when it was called the wrong way.
";

const OPTIONS: [Known; 1] = [("--out", "a folder")];

const FIGURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/img");

pub(crate) enum Job {
    Help,
    Draw { out: PathBuf },
}

impl Job {
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let Some(mut given) = Given::read(arguments, &OPTIONS)? else {
            return Ok(Self::Help);
        };
        let out = given.take("--out").unwrap_or_else(|| FIGURES.into()).into();
        Ok(Self::Draw { out })
    }
}
