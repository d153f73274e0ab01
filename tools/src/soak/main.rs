//! Four processes share a Redis that fails in twelve ways, one after another, and everything that tollgate promises is
//! checked meanwhile.
//!
//! Run it with `cargo run --release -p tollgate-tools --bin soak -- --minutes 5`; `--help` tells the rest. It needs redis-server 7 or
//! later on the PATH, starts its own, and listens on 127.0.0.1 only.

mod answer;
mod arguments;
mod chance;
#[path = "../../../cli/src/common"]
mod common {
    pub(crate) mod given;
    pub(crate) mod program;
    pub(crate) mod value;
}
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

use std::{env, process::ExitCode};

use arguments::{HELP, Job};
use common::program;

fn main() -> ExitCode {
    match Job::read(env::args_os().skip(1)) {
        Ok(Job::Help) => program::help(HELP),
        Ok(Job::Serve { port, redis }) => program::ended(serve::serve(port, &redis)),
        Ok(Job::Soak(options)) => match needs::check() {
            Ok(()) => program::ended(run::soak(&options)),
            Err(lacking) => program::misused(&lacking),
        },
        Err(wrong) => program::misused(&wrong),
    }
}
