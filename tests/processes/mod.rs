//! Several processes that share limits and queues on one Redis.

mod admitted;
mod concurrency;
mod departures;
mod leases;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lets one of the tests in real time run at a time: each keeps the machine busy, and what is used depends on it.
fn in_real_time() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
