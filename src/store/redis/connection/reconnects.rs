//! The connections that were replaced, and the nodes that joined a cluster.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// The connections that were replaced, and the nodes that joined a cluster. After each, Redis may be another server, or have lost data.
#[derive(Default)]
pub(crate) struct Reconnects {
    count: AtomicU64,
    /// Wakes up the task that renews what this node holds of concurrency limits.
    pub(crate) wake: Notify,
}

impl Reconnects {
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    pub(crate) fn increment(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
        self.wake.notify_one();
    }
}
