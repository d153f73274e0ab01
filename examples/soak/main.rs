//! Four processes share a Redis that fails in twelve ways, one after another, and everything that tollgate promises is
//! checked meanwhile.
//!
//! Run it with `cargo run --release --example soak -- --minutes 5`; `--help` tells the rest. It needs redis-server 7 or
//! later on the PATH, starts its own, and listens on 127.0.0.1 only.

mod answer;
mod arguments;
mod faults;
mod fleet;
mod heartbeat;
mod latencies;
mod limits;
mod load;
mod needs;
mod promises;
mod random;
mod report;
mod rig;
mod run;
mod serve;
#[path = "../../tests/support"]
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest")]
mod support {
    pub mod port;
    pub mod process;
    pub mod proxy;
    pub mod redis;
}
mod timeline;

use std::{env, process::ExitCode};

use arguments::{HELP, Job};

/// Something was promised and not kept.
const BROKEN: u8 = 1;
/// Nothing was tried.
const CANNOT: u8 = 2;

fn main() -> ExitCode {
    let outcome = match Job::read(env::args().skip(1)) {
        Ok(Job::Help) => {
            print!("{HELP}");
            Ok(true)
        }
        Ok(Job::Serve { port, redis }) => serve::serve(port, &redis).map(|()| true),
        Ok(Job::Soak(options)) => needs::check().map(|()| run::soak(&options)).map_err(Into::into),
        Err(wrong) => Err(format!("{wrong}\n\n{HELP}").into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => BROKEN.into(),
        Err(error) => {
            eprintln!("{error}");
            CANNOT.into()
        }
    }
}
