//! Limits in front of any service: a reverse proxy for those who cannot put the layer into their service, or will not.
//!
//! Run it with `cargo run --example gateway` and try the lines that it prints: there is a small service to try it on, and the
//! rules are in examples/gateway/rules.toml. `cargo run --release --example gateway -- --help` tells how to put it in front of
//! a service of your own.

mod admin;
mod answer;
mod arguments;
mod banner;
mod bounds;
mod clients;
mod counting;
mod forwarding;
mod guest;
mod listening;
mod log;
mod measures;
mod plain;
mod run;
mod seldom;
#[path = "../simulate/signals.rs"]
mod signals;
mod stack;
mod upstream;

use std::{
    env,
    io::{Write, stdout},
    process::ExitCode,
};

use arguments::{HELP, Job};

/// It could not start.
const FAILED: u8 = 1;
/// It was called the wrong way.
const MISUSED: u8 = 2;

#[tokio::main]
async fn main() -> ExitCode {
    let options = match Job::read(env::args_os().skip(1)) {
        Ok(Job::Serve(options)) => options,
        Ok(Job::Help) => {
            // Whoever has read enough may close the pipe.
            stdout().write_all(HELP.as_bytes()).ok();
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            eprintln!("{wrong}\n`cargo run --example gateway -- --help` tells more");
            return MISUSED.into();
        }
    };
    log::start(options.log);
    match run::run(*options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            FAILED.into()
        }
    }
}
