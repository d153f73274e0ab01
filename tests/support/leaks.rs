//! Counts of resources that a test must not leak.

use tokio::runtime::Handle;

/// The number of open file descriptors. Use it where no other test runs in the same process.
pub fn open_files() -> usize {
    let listed = std::fs::read_dir("/proc/self/fd").unwrap().count();
    // Reading the folder opens one more.
    listed - 1
}

/// The number of live tasks of the current runtime.
pub fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}
