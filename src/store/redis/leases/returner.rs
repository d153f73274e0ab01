//! Returns units to Redis that this node does not need any more.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{
    runtime::Handle,
    time::{Instant, timeout_at},
};

use super::leases::Leases;
use crate::receipt::Charged;

/// How long the task waits for leases before it ends: no task outlives its work, so that a store outlives the runtimes it is used on.
const IDLE_TIME: Duration = Duration::from_secs(1);

/// A task that is late by this much is on a runtime that is not running.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// The due time while the task runs, which is after that of every lease.
const RUNNING: u64 = u64::MAX;

/// However the task ends, another can be started.
struct Running(Arc<Leases>);

impl Leases {
    /// Starts a task that returns units by `give_back`, unless one is running. There may be a second one for a while, if the runtime of
    /// the first continues.
    pub(crate) fn start_returner(self: &Arc<Self>, give_back: impl Fn(Charged) + Send + 'static) {
        let (now, due) = (self.micros(Instant::now()), self.returner_due.load(Ordering::Acquire));
        let is_running = due > 0 && now <= due.saturating_add(MAX_DELAY.as_micros() as u64);
        let Ok(runtime) = Handle::try_current() else { return };
        let swap = |due| {
            self.returner_due
                .compare_exchange(due, now, Ordering::AcqRel, Ordering::Acquire)
        };
        if is_running || swap(due).is_err() {
            return;
        }
        let running = Running(Arc::clone(self));
        runtime.spawn(async move {
            let Running(leases) = &running;
            loop {
                let taken = leases.in_flight();
                // A lease that is granted meanwhile may be too late for what is computed here: it wakes up the task.
                leases.returner_due.store(RUNNING, Ordering::Release);
                let (returned, next) = leases.returned(Instant::now());
                returned.into_iter().for_each(&give_back);
                drop(taken);
                let due = next.unwrap_or_else(|| Instant::now() + IDLE_TIME);
                leases.returner_due.store(leases.micros(due), Ordering::Release);
                let woken = timeout_at(due, leases.wake_returner.notified()).await;
                // A lease that is asked for may arrive too late.
                if woken.is_err() && next.is_none() && !leases.has_calls_in_flight() {
                    return;
                }
            }
        });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.returner_due.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
