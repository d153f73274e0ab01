//! Five algorithms side by side in the browser: press for requests, see which pass, and why.
//!
//! Run it with `cargo run --example playground` and open http://127.0.0.1:4000. Every lane is a service behind the real layer, in
//! memory or, with `-- --store redis://127.0.0.1:6379`, on Redis; only the time is the page's own, so it can be slowed, stopped
//! and stepped. `-- --help` tells more.
//!
//! A scene is what one open page plays: its settings, its time, and the requests that were pressed for. [`scene`] runs it,
//! [`lane`] is one algorithm in it, [`serve`] brings it to the page as server-sent events, and `page/` draws it.

#[path = "../gateway/arguments/address.rs"]
mod address;
mod arguments;
mod lane;
#[path = "../gateway/listening.rs"]
mod listening;
mod run;
mod scene;
mod serve;
#[path = "../simulate/signals.rs"]
mod signals;

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
            eprintln!("{wrong}\n`cargo run --example playground -- --help` tells more");
            return MISUSED.into();
        }
    };
    match run::run(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            FAILED.into()
        }
    }
}
