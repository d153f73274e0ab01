//! Overload: requests that were shed, or decided too late, because Redis cannot keep up; for logs, metrics and health.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::metrics;

/// The minimal interval between log events.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// How long the store counts as overloaded after a request was shed or late.
const OVERLOAD_PERIOD: Duration = Duration::from_secs(1);

pub(crate) struct Overload {
    address: Arc<str>,
    state: Mutex<OverloadState>,
}

#[derive(Default)]
struct OverloadState {
    last: Option<Instant>,
    logged: Option<Instant>,
    /// The numbers of requests since the last log event.
    shed: usize,
    late: usize,
}

impl Overload {
    pub(super) fn new(address: &Arc<str>) -> Self {
        Self {
            address: Arc::clone(address),
            state: Mutex::default(),
        }
    }

    pub(super) fn address(&self) -> &Arc<str> {
        &self.address
    }

    /// Records requests that were not sent, since Redis could not decide them before their deadlines.
    pub(super) fn record_shed(&self, requests: usize, now: Instant) {
        metrics::count_shed(requests);
        self.record(requests, 0, now);
    }

    /// Records requests that Redis decided after their deadlines, in a call that it replied to.
    pub(super) fn record_late(&self, requests: usize, now: Instant) {
        self.record(0, requests, now);
    }

    fn record(&self, shed: usize, late: usize, now: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last = Some(now);
        state.shed += shed;
        state.late += late;
        if state.logged.is_some_and(|at| now.duration_since(at) < LOG_INTERVAL) {
            return;
        }
        state.logged = Some(now);
        let (shed, late) = (std::mem::take(&mut state.shed), std::mem::take(&mut state.late));
        drop(state);
        let address = &self.address;
        tracing::warn!(target: "tollgate::redis", %address, shed, late, "overloaded: Redis cannot decide all requests before their deadlines");
    }

    /// Whether requests were shed or late within the last second.
    pub(crate) fn is_overloaded(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last.is_some_and(|last| last.elapsed() < OVERLOAD_PERIOD)
    }
}
