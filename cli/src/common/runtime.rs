//! The runtimes that subcommands run on.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// For servers: a thread for each core.
pub(crate) fn of_all_cores() -> io::Result<Runtime> {
    Builder::new_multi_thread().enable_all().build()
}

/// For a few calls, one after another.
pub(crate) fn of_this_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
