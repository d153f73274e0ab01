//! Four processes share a Redis that fails in twelve ways, one after another, and everything that tollgate promises is
//! checked meanwhile.
//!
//! Run it with `cargo run --release -p tollgate-tools --bin soak -- --minutes 5`; `--help` tells the rest. It needs redis-server 7 or
//! later on the PATH, starts its own, and listens on 127.0.0.1 only.

mod answer;
mod args;
mod chance;
#[path = "../exit.rs"]
mod exit;
mod faults;
mod fleet;
mod heartbeat;
mod latencies;
mod limits;
mod load;
mod needs;
mod promises;
mod report;
mod rig;
mod run;
mod serve;
#[path = "../../../tests/support"]
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest")]
mod support {
    pub mod port;
    pub mod process;
    pub mod proxy;
    pub mod random;
    pub mod redis;
}
mod timeline;

use std::process::ExitCode;

use args::{Role, SoakArgs};
use clap::Parser;

fn main() -> ExitCode {
    let args = SoakArgs::parse();
    if let Some(Role::Serve { port, redis }) = &args.role {
        return exit::ended(serve::serve(*port, redis));
    }
    match needs::check() {
        Ok(()) => exit::ended(run::soak(&args)),
        Err(lacking) => {
            eprintln!("error: {lacking}");
            ExitCode::from(2)
        }
    }
}
