//! Prometheus metrics that all servers have, and those that the library records.

use std::{sync::Arc, time::Duration};

use metrics::{Counter, Gauge, describe_gauge, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::time::interval;

use super::response::RejectionReason;

/// The interval at which histogram samples are aggregated if nothing scrapes the metrics.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Buckets from half a millisecond to half a minute.
const SECONDS_BUCKETS: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0, 30.0,
];

/// Buckets up to the maximum batch size.
const BATCH_BUCKETS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

#[derive(Clone)]
pub(crate) struct ServerMetrics(Arc<Handles>);

struct Handles {
    connections: Gauge,
    store_up: Gauge,
    exporter: PrometheusHandle,
}

impl ServerMetrics {
    /// Installs the global recorder, once in a process. The names of the server's own metrics begin with `prefix`.
    pub(crate) fn install(prefix: &str) -> Self {
        let exporter = PrometheusBuilder::new()
            .set_buckets(&SECONDS_BUCKETS)
            .and_then(|builder| {
                builder.set_buckets_for_metric(Matcher::Full("tollgate_batch_size".into()), &BATCH_BUCKETS)
            })
            .expect("the buckets are not empty")
            .install_recorder();
        let exporter = exporter.expect("no other recorder is installed");
        let [connections, store_up] = ["connections", "store_up"].map(|name| format!("{prefix}_{name}"));
        describe_gauge!(connections.clone(), "Open client connections");
        describe_gauge!(
            store_up.clone(),
            "0 while the circuit breaker of the store is open, 1 otherwise"
        );
        Self(Arc::new(Handles {
            connections: gauge!(connections),
            store_up: gauge!(store_up),
            exporter,
        }))
    }

    /// Counts an open connection until the guard is dropped.
    pub(crate) fn connection_opened(&self) -> ConnectionGuard {
        self.0.connections.increment(1);
        ConnectionGuard(self.clone())
    }

    /// Renders all metrics in Prometheus's text format.
    pub(crate) fn render(&self, store_is_up: bool) -> String {
        self.0.store_up.set(u8::from(store_is_up));
        self.0.exporter.render()
    }

    /// Aggregates histogram samples periodically: until then, each takes memory.
    pub(crate) async fn run_upkeep(self) {
        let mut ticks = interval(UPKEEP_INTERVAL);
        loop {
            ticks.tick().await;
            self.0.exporter.run_upkeep();
        }
    }
}

pub(crate) struct ConnectionGuard(ServerMetrics);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.0.connections.decrement(1);
    }
}

/// Counts requests by answer: `passed`, or the `error` of the response.
pub(crate) struct RequestCounters {
    passed: Counter,
    limited: Counter,
    all_slots_held: Counter,
    unavailable: Counter,
    key_missing: Counter,
    key_ambiguous: Counter,
    /// The counter of an answer.
    counter: Box<dyn Fn(&'static str) -> Counter + Send + Sync>,
}

impl RequestCounters {
    /// Registers the answers of the rate limit layer, so that they are 0 before the first request.
    pub(crate) fn new(counter: impl Fn(&'static str) -> Counter + Send + Sync + 'static) -> Self {
        Self {
            passed: counter("passed"),
            limited: counter("rate_limit_exceeded"),
            all_slots_held: counter("concurrency_limit_exceeded"),
            unavailable: counter("rate_limiter_unavailable"),
            key_missing: counter("rate_limit_key_missing"),
            key_ambiguous: counter("rate_limit_key_ambiguous"),
            counter: Box::new(counter),
        }
    }

    pub(crate) fn record_passed(&self) {
        self.passed.increment(1);
    }

    pub(crate) fn record_rejected(&self, reason: RejectionReason) {
        let counter = match reason {
            RejectionReason::Limited => &self.limited,
            RejectionReason::AllSlotsHeld => &self.all_slots_held,
            RejectionReason::Unavailable => &self.unavailable,
            RejectionReason::KeyMissing => &self.key_missing,
            RejectionReason::KeyAmbiguous => &self.key_ambiguous,
        };
        counter.increment(1);
    }

    /// Counts a request that the rate limit layer did not decide, or whose response the server replaced.
    pub(crate) fn record_error(&self, error: &'static str) {
        (self.counter)(error).increment(1);
    }
}
