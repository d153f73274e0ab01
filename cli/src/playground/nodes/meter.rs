//! What a node leases and how often it calls Redis, by the metrics of the library.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use metrics::{Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit};

/// The recorder of a node's thread. It ignores metrics that the page does not show.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    calls: Arc<CallCount>,
    local_requests: Arc<AtomicU64>,
    leases: Arc<AtomicU64>,
    leased: Arc<AtomicU64>,
    spent: Arc<AtomicU64>,
    returned: Arc<AtomicU64>,
}

impl Meter {
    /// The calls to Redis, for requests, leases and units that are returned.
    pub(super) fn calls(&self) -> u64 {
        self.calls.0.load(Ordering::Relaxed)
    }

    /// The requests that leases decided about.
    pub(super) fn local_requests(&self) -> u64 {
        self.local_requests.load(Ordering::Relaxed)
    }

    /// The leases that Redis has granted.
    pub(super) fn leases(&self) -> u64 {
        self.leases.load(Ordering::Relaxed)
    }

    /// The units of leases that were returned to Redis.
    pub(super) fn returned(&self) -> u64 {
        self.returned.load(Ordering::Relaxed)
    }

    /// The units that the node holds.
    pub(super) fn held(&self) -> u64 {
        // A unit is leased before it is used: in this order, units that are used meanwhile are not counted as held.
        let leased = self.leased.load(Ordering::Relaxed);
        let used = self.spent.load(Ordering::Relaxed) + self.returned();
        leased.saturating_sub(used)
    }

    fn counter(&self, key: &Key) -> Option<&Arc<AtomicU64>> {
        let outcome = key.labels().find(|label| label.key() == "outcome");
        match (key.name(), outcome.map(|label| label.value())) {
            ("tollgate_local_requests_total", _) => Some(&self.local_requests),
            ("tollgate_leases_total", _) => Some(&self.leases),
            ("tollgate_leased_units_total", Some("leased")) => Some(&self.leased),
            ("tollgate_leased_units_total", Some("spent")) => Some(&self.spent),
            ("tollgate_leased_units_total", Some("returned")) => Some(&self.returned),
            _ => None,
        }
    }
}

impl Recorder for Meter {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let counter = self.counter(key);
        counter.map_or_else(Counter::noop, |counter| Counter::from_arc(Arc::clone(counter)))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        match key.name() {
            "tollgate_batch_size" => Histogram::from_arc(Arc::clone(&self.calls)),
            _ => Histogram::noop(),
        }
    }
}

/// Counts the values of a histogram: every call to Redis records how many requests it has.
#[derive(Debug, Default)]
struct CallCount(AtomicU64);

impl HistogramFn for CallCount {
    fn record(&self, _: f64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
