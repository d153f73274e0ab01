//! The circuit breaker of a node.
//!
//! It opens when calls to the node keep failing, so that requests fail fast instead of waiting for their deadlines. While it is
//! open, its own background task probes the node, and closes it when a probe succeeds.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::error::StoreError;
use crate::metrics;

/// The number of latest calls that count.
const WINDOW_CALLS: u32 = 10;

/// The number of failures among them that opens the circuit breaker. A call counts once, however many requests share it.
const FAILURE_THRESHOLD: u32 = 3;

/// The minimal interval between log events about failures.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The interval between probes. Together with the default connect timeout it is less than a second.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);

/// Makes a probe, whose result is whether the node has recovered; `None` if the node or its store was dropped.
pub(crate) type Probe = Box<dyn Fn() -> ProbeFuture + Send + Sync>;
pub(crate) type ProbeFuture = Pin<Box<dyn Future<Output = Option<bool>> + Send>>;

pub(crate) struct CircuitBreaker {
    address: Arc<str>,
    probe: Probe,
    /// A bit per call, which is set if the call failed; the latest is the lowest.
    calls: AtomicU32,
    /// Whether it is open, so that a request takes no lock while it is closed.
    is_open: AtomicBool,
    open: Mutex<Option<Open>>,
    is_probing: AtomicBool,
    /// When a connection was last lost.
    lost: Mutex<Option<Instant>>,
    /// When a failure was last logged, separately for permanent and transient ones.
    logged: [Mutex<Option<Instant>>; 2],
}

/// The state of an open circuit breaker.
pub(crate) struct Open {
    pub(crate) since: Instant,
    pub(crate) why: StoreError,
    failed_fast: usize,
}

impl CircuitBreaker {
    pub(crate) fn new(address: &str, probe: Probe) -> Arc<Self> {
        // The metric exists before the first failure.
        metrics::circuit_breaker(address, 0);
        Arc::new(Self {
            address: address.into(),
            probe,
            calls: AtomicU32::new(0),
            is_open: AtomicBool::new(false),
            open: Mutex::default(),
            is_probing: AtomicBool::new(false),
            lost: Mutex::default(),
            logged: Default::default(),
        })
    }

    pub(crate) fn address(&self) -> &Arc<str> {
        &self.address
    }

    pub(crate) fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error for this number of requests if it is open.
    pub(crate) fn check(self: &Arc<Self>, requests: usize) -> Result<(), StoreError> {
        if !self.is_open.load(Ordering::Acquire) {
            return Ok(());
        }
        // The probe task ended with its runtime if that was shut down.
        self.ensure_probing();
        let mut open = self.open();
        let Some(open) = &mut *open else { return Ok(()) };
        open.failed_fast += requests;
        Err(StoreError::circuit_open(&self.address, &open.why))
    }

    /// Records a call that was answered, even with an error.
    pub(crate) fn on_success(&self) {
        // Usually no recent call has failed, and nothing changes.
        if self.calls.load(Ordering::Relaxed) != 0 {
            self.record(0);
        }
    }

    /// Records a call that failed in a way that others would, too, and opens at the threshold.
    pub(crate) fn on_failure(self: &Arc<Self>, why: &StoreError) {
        if self.record(1) < FAILURE_THRESHOLD {
            return self.log_failure(why);
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
        drop(open);
        self.ensure_probing();
    }

    /// Whether the loss of a connection that was made at that time is a new outage. Connections are often lost together: those that
    /// already existed when another one was lost belong to the same outage.
    pub(crate) fn is_new_outage(&self, connected_at: Instant) -> bool {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = lost.is_none_or(|lost| connected_at >= lost);
        if is_new {
            *lost = Some(Instant::now());
        }
        is_new
    }

    /// Records the result of a call, and returns the number of failures among the latest calls.
    fn record(&self, failed: u32) -> u32 {
        let next = |calls: u32| ((calls << 1) | failed) & ((1 << WINDOW_CALLS) - 1);
        let before = self
            .calls
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |calls| Some(next(calls)));
        before.map_or(0, |calls| next(calls).count_ones())
    }

    fn close(&self) {
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
    pub(crate) fn log_failure(&self, why: &StoreError) {
        let logged = &self.logged[usize::from(why.is_transient())];
        let mut logged = logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.is_some_and(|at| at.elapsed() < LOG_INTERVAL) {
            return;
        }
        *logged = Some(Instant::now());
        let address = &self.address;
        match why.is_transient() {
            true => tracing::warn!(target: "tollgate::redis", %address, %why, "call to Redis failed"),
            false => {
                tracing::error!(target: "tollgate::redis", %address, %why, "call to Redis failed; calls will fail until the configuration is fixed");
            }
        }
    }

    /// Starts the probe task, unless it runs or the circuit breaker is closed.
    fn ensure_probing(self: &Arc<Self>) {
        let is_open = self.is_open.load(Ordering::Acquire);
        if is_open && !self.is_probing.swap(true, Ordering::AcqRel) {
            tokio::spawn(ProbeTask(Arc::downgrade(self)).run());
        }
    }
}

/// A node that was removed from its cluster, or whose store was dropped, no longer counts in the metric.
impl Drop for CircuitBreaker {
    fn drop(&mut self) {
        if self.open().is_some() {
            metrics::circuit_breaker(&self.address, -1);
        }
    }
}

/// Probes the node until a probe succeeds.
struct ProbeTask(Weak<CircuitBreaker>);

impl ProbeTask {
    async fn run(self) {
        loop {
            sleep(PROBE_INTERVAL).await;
            let Some(probe) = self.0.upgrade().map(|breaker| (breaker.probe)()) else {
                return;
            };
            let Some(has_recovered) = probe.await else { return };
            if has_recovered && let Some(breaker) = self.0.upgrade() {
                return breaker.close();
            }
        }
    }
}

/// A runtime that shuts down drops the task; then the next call starts another one.
impl Drop for ProbeTask {
    fn drop(&mut self) {
        if let Some(breaker) = self.0.upgrade() {
            breaker.is_probing.store(false, Ordering::Release);
        }
    }
}
