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

use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};

use super::error::{FailureKind, StoreError};
use crate::metrics;

/// The number of latest calls that count.
const WINDOW_CALLS: u32 = 10;

/// The number of failures among them that opens the circuit breaker. A call counts once, however many requests share it.
const FAILURE_THRESHOLD: u32 = 3;

/// The minimal interval between log events about failures of one kind, and the time without failures after which calls succeed again:
/// while Redis is out of memory, calls that write nothing succeed between failed ones.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The interval between probes. Together with the default connect timeout it is less than a second.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);

/// A probe that takes longer is on a runtime that is not running: another one is started.
const MAX_PROBE_TIME: Duration = Duration::from_secs(10);

/// Makes a probe, which succeeds if the node has recovered; `None` if the node or its store was dropped.
pub(crate) type Probe = Box<dyn Fn() -> ProbeFuture + Send + Sync>;
pub(crate) type ProbeFuture = Pin<Box<dyn Future<Output = Option<Result<(), StoreError>>> + Send>>;

pub(crate) struct CircuitBreaker {
    address: Arc<str>,
    probe: Probe,
    /// A bit per call, which is set if the call failed; the latest is the lowest.
    calls: AtomicU32,
    /// Whether it is open, so that a request takes no lock while it is closed.
    is_open: AtomicBool,
    open: Mutex<Option<Open>>,
    /// When the probe task last did something; `None` if there is none.
    probing: Mutex<Option<Instant>>,
    /// When a connection was last lost.
    lost: Mutex<Option<Instant>>,
    /// Whether `failures` contains any, so that a successful call takes no lock.
    has_failures: AtomicBool,
    failures: Mutex<Failures>,
}

/// The state of an open circuit breaker.
pub(crate) struct Open {
    pub(crate) since: Instant,
    /// The failure that opened it, or that of a later probe if its kind is another.
    pub(crate) why: StoreError,
    /// The kind of failure that was logged last.
    logged_kind: FailureKind,
    changes: LogThrottle,
    failed_fast: usize,
}

/// The failed calls while it is closed, until calls succeed again.
#[derive(Default)]
struct Failures {
    calls: u64,
    latest: Option<Instant>,
    throttle: LogThrottle,
}

/// Limits the rate of log events about failures, for each kind.
#[derive(Default)]
struct LogThrottle(Vec<(FailureKind, Instant)>);

impl LogThrottle {
    /// Whether an event about a failure of this kind may be logged now.
    fn permits(&mut self, kind: FailureKind) -> bool {
        self.0.retain(|(_, logged)| logged.elapsed() < LOG_INTERVAL);
        let is_recent = self.0.iter().any(|(known, _)| *known == kind);
        if !is_recent {
            self.0.push((kind, Instant::now()));
        }
        !is_recent
    }
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
            probing: Mutex::default(),
            lost: Mutex::default(),
            has_failures: AtomicBool::new(false),
            failures: Mutex::default(),
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

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a call that succeeded.
    pub(crate) fn on_success(&self) {
        self.record_answer();
        if self.has_failures.load(Ordering::Relaxed) {
            self.log_success();
        }
    }

    /// Records a call that was answered with an error which other calls would not get.
    pub(crate) fn on_error_reply(&self, why: &StoreError) {
        self.record_answer();
        self.log_failure(why);
    }

    /// Records a call that was answered, even with an error.
    fn record_answer(&self) {
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
            *open = Some(Open {
                since: Instant::now(),
                why: why.clone(),
                logged_kind: why.kind(),
                changes: LogThrottle::default(),
                failed_fast: 0,
            });
            self.is_open.store(true, Ordering::Release);
            // The end of the outage is logged when it closes.
            self.clear_failures(&mut self.failures());
            metrics::circuit_breaker(&self.address, 1);
            let address = &self.address;
            match why.is_transient() {
                true => {
                    tracing::warn!(target: "tollgate::redis", %address, %why, "circuit breaker open: the failure mode decides until a probe succeeds");
                }
                false => {
                    tracing::error!(target: "tollgate::redis", %address, %why, "circuit breaker open: the failure mode decides until the configuration is fixed");
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

    /// Updates the cause after a failed probe: Redis may fail in another way than at the beginning of the outage.
    fn on_failed_probe(&self, why: StoreError) {
        let mut open = self.open();
        let Some(open) = &mut *open else { return };
        let kind = why.kind();
        if kind != open.why.kind() {
            open.why = why;
        }
        if kind == open.logged_kind || !open.changes.permits(kind) {
            return;
        }
        open.logged_kind = kind;
        let (address, why) = (&self.address, &open.why);
        match why.is_transient() {
            true => {
                tracing::warn!(target: "tollgate::redis", %address, %why, "circuit breaker still open; the cause has changed");
            }
            false => {
                tracing::error!(target: "tollgate::redis", %address, %why, "circuit breaker still open; the cause has changed");
            }
        }
    }

    fn close(&self) {
        let mut open = self.open();
        if let Some(Open { since, failed_fast, .. }) = open.take() {
            self.calls.store(0, Ordering::Relaxed);
            self.is_open.store(false, Ordering::Release);
            metrics::circuit_breaker(&self.address, -1);
            let (address, down_for) = (&self.address, since.elapsed());
            tracing::info!(target: "tollgate::redis", %address, ?down_for, requests = failed_fast, "circuit breaker closed; the failure mode decided requests while it was open");
        }
    }

    /// Logs a failed call, unless a failure of this kind was logged within the interval.
    fn log_failure(&self, why: &StoreError) {
        // While it is open, its own events report the cause.
        if self.is_open.load(Ordering::Acquire) {
            return;
        }
        let mut failures = self.failures();
        failures.calls += 1;
        failures.latest = Some(Instant::now());
        self.has_failures.store(true, Ordering::Relaxed);
        if !failures.throttle.permits(why.kind()) {
            return;
        }
        let address = &self.address;
        match why.is_transient() {
            true => tracing::warn!(target: "tollgate::redis", %address, %why, "call to Redis failed"),
            false => {
                tracing::error!(target: "tollgate::redis", %address, %why, "call to Redis failed; calls will fail until the configuration is fixed");
            }
        }
    }

    /// Logs that calls succeed again, once none has failed for the interval.
    fn log_success(&self) {
        let mut failures = self.failures();
        if failures.latest.is_none_or(|latest| latest.elapsed() < LOG_INTERVAL) {
            return;
        }
        let (address, failed) = (&self.address, failures.calls);
        tracing::info!(target: "tollgate::redis", %address, failed, "calls to Redis succeed again");
        self.clear_failures(&mut failures);
    }

    fn clear_failures(&self, failures: &mut Failures) {
        *failures = Failures::default();
        self.has_failures.store(false, Ordering::Relaxed);
    }

    /// Starts the probe task, unless it runs or the circuit breaker is closed.
    fn ensure_probing(self: &Arc<Self>) {
        let (true, Ok(runtime)) = (self.is_open.load(Ordering::Acquire), Handle::try_current()) else {
            return;
        };
        let mut probing = self.probing();
        if probing.is_none_or(|at| at.elapsed() >= MAX_PROBE_TIME) {
            *probing = Some(Instant::now());
            runtime.spawn(ProbeTask(Arc::downgrade(self)).run());
        }
    }

    fn probing(&self) -> MutexGuard<'_, Option<Instant>> {
        self.probing.lock().unwrap_or_else(PoisonError::into_inner)
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
            let probe = |breaker: Arc<CircuitBreaker>| {
                *breaker.probing() = Some(Instant::now());
                (breaker.probe)()
            };
            let Some(probe) = self.0.upgrade().map(probe) else {
                return;
            };
            let Some(result) = probe.await else { return };
            let Some(breaker) = self.0.upgrade() else { return };
            match result {
                Ok(()) => return breaker.close(),
                Err(why) => breaker.on_failed_probe(why),
            }
        }
    }
}

/// A runtime that shuts down drops the task; then the next call starts another one.
impl Drop for ProbeTask {
    fn drop(&mut self) {
        if let Some(breaker) = self.0.upgrade() {
            *breaker.probing() = None;
        }
    }
}

#[cfg(test)]
mod tests;
