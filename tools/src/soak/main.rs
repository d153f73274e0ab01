//! A soak test: four processes share a Redis, and tollgate's invariants are checked, in one of three scenarios: twelve kinds of faults,
//! round trips up to most of the deadline at several rates, or a cluster of which one node is unavailable.
//!
//! Run it with `cargo run --release -p tollgate-tools --bin soak -- --minutes 5`; see `--help`. It needs redis-server 7 or later on
//! the PATH, starts its own instances, and listens on 127.0.0.1 only.

mod answer;
mod args;
mod cluster;
#[path = "../exit.rs"]
mod exit;
mod fault_injector;
mod faults;
mod fleet;
mod invariants;
mod latencies;
mod limits;
mod load;
mod node;
mod random_ext;
mod report;
mod run;
mod scenario;
mod serve;
mod stall_detector;
#[path = "../../../tests/support"]
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest")]
mod support {
    pub mod folder;
    pub mod port;
    pub mod process;
    pub mod project;
    pub mod proxy;
    pub mod random;
    pub mod redis;
}
mod timeline;
mod users;

use std::process::{Command, ExitCode};

use args::{Role, SoakArgs};
use clap::Parser;

const HOW_TO_INSTALL: &str =
    "install redis-server 7 or later (Debian: apt-get install redis-server), and have it on the PATH";

fn main() -> ExitCode {
    let args = SoakArgs::parse();
    if let Some(Role::Serve { port, redis }) = &args.role {
        return exit::exit_code(serve::serve(*port, redis));
    }
    match check_redis_version() {
        Ok(()) => exit::exit_code(run::soak(&args)),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the version of redis-server, or returns how to install a supported one.
fn check_redis_version() -> Result<(), String> {
    let output = Command::new("redis-server").arg("--version").output();
    let output = output.map_err(|error| format!("redis-server not found ({error}): {HOW_TO_INSTALL}"))?;
    let output = String::from_utf8_lossy(&output.stdout);
    match major_version(&output) {
        Some(7..) => {
            println!("needs redis-server 7 or later, found {}", output.trim());
            Ok(())
        }
        _ => Err(format!(
            "unsupported redis-server ({}): {HOW_TO_INSTALL}",
            output.trim()
        )),
    }
}

/// The first number of `Redis server v=7.0.15 sha=..`.
fn major_version(output: &str) -> Option<u32> {
    let (_, version) = output.split_once("v=")?;
    version.split('.').next()?.parse().ok()
}
