//! Renews what this node holds, and corrects it after a lost answer.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{
    runtime::Handle,
    time::{Instant, timeout_at},
};

use super::{holder::NodeHolder, slot_call::SlotCall};

/// How often the task looks for a reconnect at least.
const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// A task that is late by this much is on a runtime that is not running.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// However the task ends, another can be started.
struct Running(Arc<NodeHolder>);

impl NodeHolder {
    /// Starts a task that renews by `renew` while anything is held, unless one is running. `renew` returns whether the store still exists.
    pub(crate) fn start_renewer(self: &Arc<Self>, renew: impl Fn(SlotCall) -> bool + Send + 'static) {
        if self.is_idle() {
            return;
        }
        let (now, due) = (self.micros(Instant::now()), self.renewer_due.load(Ordering::SeqCst));
        let is_running = due > 0 && now <= due + MAX_DELAY.as_micros() as u64;
        if is_running {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        let swap = self
            .renewer_due
            .compare_exchange(due, now, Ordering::SeqCst, Ordering::SeqCst);
        if swap.is_err() {
            return;
        }
        let running = Running(Arc::clone(self));
        runtime.spawn(async move {
            let Running(holder) = &running;
            while !holder.is_idle() || !holder.end_renewer() {
                let (due, next) = holder.due(Instant::now());
                for (charge, sender) in due {
                    if !renew(SlotCall::renew(holder, charge, sender)) {
                        return;
                    }
                }
                let latest = Instant::now() + MAX_INTERVAL;
                let next = next.map_or(latest, |next| next.min(latest));
                holder.renewer_due.store(holder.micros(next), Ordering::SeqCst);
                _ = timeout_at(next, holder.reconnects.wake.notified()).await;
            }
        });
    }
}

impl NodeHolder {
    /// Ends the task, unless a slot was acquired meanwhile by a call that has found the task running.
    fn end_renewer(&self) -> bool {
        let now = self.micros(Instant::now());
        self.renewer_due.store(0, Ordering::SeqCst);
        let swap = || {
            self.renewer_due
                .compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst)
        };
        self.is_idle() || swap().is_err()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.renewer_due.store(0, Ordering::SeqCst);
    }
}
