//! Five algorithms side by side in the browser: press for requests, see which pass, and why.
//!
//! Run it with `cargo run -p tollgate-cli --bin playground` and open http://127.0.0.1:4000. Every lane is a service behind the real layer, in
//! memory or, with `-- --store redis://127.0.0.1:6379`, on Redis; only the time is the page's own, so it can be slowed, stopped
//! and stepped. `-- --help` tells more.
//!
//! A scene is what one open page plays: its settings, its time, and the requests that were pressed for. [`scene`] runs it,
//! [`lane`] is one algorithm in it, [`serve`] brings it to the page as server-sent events, and `page/` draws it.

mod arguments;
#[path = "../common"]
mod common {
    pub(crate) mod address;
    pub(crate) mod busiest;
    pub(crate) mod given;
    pub(crate) mod listening;
    pub(crate) mod place;
    pub(crate) mod program;
    pub(crate) mod signals;
    pub(crate) mod unique;
    pub(crate) mod value;
}
mod lane;
mod run;
mod scene;
mod serve;

use std::{env, process::ExitCode};

use arguments::{HELP, Job};
use common::program;

#[tokio::main]
async fn main() -> ExitCode {
    match Job::read(env::args_os().skip(1)) {
        Ok(Job::Help) => program::help(HELP),
        Ok(Job::Serve(options)) => program::ended(run::run(options).await),
        Err(wrong) => program::misused(&wrong),
    }
}
