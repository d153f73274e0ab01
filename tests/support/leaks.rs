//! What a test should leave as it found it.

use tokio::runtime::Handle;

/// How many files, sockets and pipes this process has open. Count it where no other test runs in the same process.
pub fn open_files() -> usize {
    let listed = std::fs::read_dir("/proc/self/fd").unwrap().count();
    // One of them is the folder that is being read.
    listed - 1
}

/// How many tasks of the current runtime have not ended.
pub fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}
