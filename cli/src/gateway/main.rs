//! Limits in front of any service: a reverse proxy for those who cannot put the layer into their service, or will not.
//!
//! Run it with `cargo run -p tollgate-cli --bin gateway` and try the lines that it prints: there is a small service to try it on, and the
//! rules are in cli/src/gateway/rules.toml. `cargo run --release -p tollgate-cli --bin gateway -- --help` tells how to put it in front of
//! a service of your own.

mod admin;
mod answer;
mod arguments;
mod banner;
mod bounds;
mod clients;
#[path = "../common"]
mod common {
    pub(crate) mod address;
    pub(crate) mod given;
    pub(crate) mod listening;
    pub(crate) mod program;
    pub(crate) mod signals;
    pub(crate) mod unique;
    pub(crate) mod value;
}
mod counting;
mod forwarding;
mod guest;
mod log;
mod measures;
mod plain;
mod run;
mod sanitize;
mod seldom;
mod stack;
mod upstream;

use std::{env, process::ExitCode};

use arguments::{HELP, Job};
use common::program;

#[tokio::main]
async fn main() -> ExitCode {
    match Job::read(env::args_os().skip(1)) {
        Ok(Job::Help) => program::help(HELP),
        Ok(Job::Serve(options)) => {
            log::start(options.log);
            program::ended(run::run(*options).await)
        }
        Err(wrong) => program::misused(&wrong),
    }
}
