//! The circuit breaker of a node.
//!
//! It opens when calls to the node keep failing, so that requests fail fast instead of waiting for their deadlines. While it is
//! open, a background task probes the node (`probe`), and closes it when a probe succeeds.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use crate::{metrics, store::redis::error::StoreError};

/// The number of latest calls that count.
const WINDOW_CALLS: u32 = 10;

/// The number of failures among them that opens the circuit breaker. A call counts once, however many requests share it.
const FAILURE_THRESHOLD: u32 = 3;

/// The minimal interval between log events about failures.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

pub(crate) struct Breaker {
    address: Arc<str>,
    /// A bit per call, which is set if the call failed; the latest is the lowest.
    calls: AtomicU32,
    /// Whether it is open, so that a request takes no lock while it is closed.
    is_open: AtomicBool,
    open: Mutex<Option<Open>>,
    probed: AtomicBool,
    /// When a connection was last lost.
    lost: Mutex<Option<Instant>>,
    /// When a failure was last logged, separately for permanent and transient ones.
    reported: [Mutex<Option<Instant>>; 2],
}

/// The state of an open circuit breaker.
pub(crate) struct Open {
    pub(crate) since: Instant,
    pub(crate) why: StoreError,
    failed_fast: usize,
}

impl Breaker {
    pub(crate) fn new(address: &str) -> Self {
        // The metric exists before the first failure.
        metrics::circuit_breaker(address, 0);
        Self {
            address: address.into(),
            calls: AtomicU32::new(0),
            is_open: AtomicBool::new(false),
            open: Mutex::default(),
            probed: AtomicBool::new(false),
            lost: Mutex::default(),
            reported: Default::default(),
        }
    }

    pub(crate) fn address(&self) -> &Arc<str> {
        &self.address
    }

    pub(crate) fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error for this number of requests if it is open.
    pub(crate) fn check(&self, requests: usize) -> Result<(), StoreError> {
        if !self.is_open.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut open = self.open();
        let Some(open) = &mut *open else { return Ok(()) };
        open.failed_fast += requests;
        Err(StoreError::circuit_open(&self.address, &open.why))
    }

    /// Records a call that was answered, even with an error.
    pub(crate) fn answered(&self) {
        // Usually no recent call has failed, and nothing changes.
        if self.calls.load(Ordering::Relaxed) != 0 {
            self.count(0);
        }
    }

    /// Records a call that failed in a way that others would, too.
    pub(crate) fn failed(&self, why: &StoreError) {
        if self.count(1) < FAILURE_THRESHOLD {
            return self.report(why);
        }
        let mut open = self.open();
        if open.is_none() {
            let (since, failed_fast) = (Instant::now(), 0);
            *open = Some(Open {
                since,
                why: why.clone(),
                failed_fast,
            });
            self.is_open.store(true, Ordering::Release);
            metrics::circuit_breaker(&self.address, 1);
            let address = &self.address;
            match why.is_transient() {
                true => {
                    tracing::warn!(target: "tollgate::redis", %address, %why, "circuit breaker open; failing fast until a probe succeeds");
                }
                false => {
                    tracing::error!(target: "tollgate::redis", %address, %why, "circuit breaker open; failing fast until the configuration is fixed");
                }
            }
        }
    }

    /// Whether the loss of a connection that was made at that time is a new failure. Connections are often lost together: those
    /// that already existed when another one was lost belong to the same failure.
    pub(crate) fn is_news_of(&self, made: Instant) -> bool {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = lost.is_none_or(|lost| made >= lost);
        if is_news {
            *lost = Some(Instant::now());
        }
        is_news
    }

    /// Records the result of a call, and returns the number of failures among the latest calls.
    fn count(&self, failed: u32) -> u32 {
        let next = |calls: u32| ((calls << 1) | failed) & ((1 << WINDOW_CALLS) - 1);
        let before = self
            .calls
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |calls| Some(next(calls)));
        before.map_or(0, |calls| next(calls).count_ones())
    }

    /// Closes it after a successful probe.
    pub(crate) fn close(&self) {
        let mut open = self.open();
        if let Some(Open { since, failed_fast, .. }) = open.take() {
            self.calls.store(0, Ordering::Relaxed);
            self.is_open.store(false, Ordering::Release);
            metrics::circuit_breaker(&self.address, -1);
            let (address, down_for) = (&self.address, since.elapsed());
            tracing::info!(target: "tollgate::redis", %address, ?down_for, requests = failed_fast, "circuit breaker closed; requests failed fast while it was open");
        }
    }

    /// Logs a failed call, unless a failure was logged within the interval.
    pub(crate) fn report(&self, why: &StoreError) {
        let reported = &self.reported[usize::from(why.is_transient())];
        let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.is_some_and(|at| at.elapsed() < LOG_INTERVAL) {
            return;
        }
        *reported = Some(Instant::now());
        let address = &self.address;
        match why.is_transient() {
            true => tracing::warn!(target: "tollgate::redis", %address, %why, "call to Redis failed"),
            false => {
                tracing::error!(target: "tollgate::redis", %address, %why, "call to Redis failed; calls will fail until the configuration is fixed");
            }
        }
    }

    /// The permit to probe, for one task at a time, while it is open.
    pub(crate) fn probing(self: &Arc<Self>) -> Option<Probing> {
        let is_open = self.is_open.load(Ordering::Acquire);
        (is_open && !self.probed.swap(true, Ordering::AcqRel)).then(|| Probing(Arc::clone(self)))
    }
}

/// A node that was removed from its cluster, or whose store was dropped, no longer counts in the metric.
impl Drop for Breaker {
    fn drop(&mut self) {
        if self.open().is_some() {
            metrics::circuit_breaker(&self.address, -1);
        }
    }
}

/// The permit to probe, which is released on drop.
pub(crate) struct Probing(pub(crate) Arc<Breaker>);

/// A runtime that shuts down drops the probe task; then another task may probe.
impl Drop for Probing {
    fn drop(&mut self) {
        self.0.probed.store(false, Ordering::Release);
    }
}
