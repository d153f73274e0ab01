//! Prometheus metrics: the gateway's own, and those that the library records.

use std::{sync::Arc, time::Duration};

use metrics::{
    Counter, Gauge, Histogram, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::time::interval;

use super::response::{FromUpstream, ProxyError, ProxyResponse, RejectionReason};

/// The interval at which histogram samples are aggregated if nothing scrapes the metrics.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Buckets from half a millisecond to half a minute.
const SECONDS_BUCKETS: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0, 30.0,
];

/// Buckets up to the maximum batch size.
const BATCH_BUCKETS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

#[derive(Clone)]
pub(crate) struct GatewayMetrics(Arc<Handles>);

struct Handles {
    forwarded: Counter,
    limited: Counter,
    all_slots_held: Counter,
    unavailable: Counter,
    key_missing: Counter,
    key_ambiguous: Counter,
    connections: Gauge,
    store_up: Gauge,
    upstream: Histogram,
    exporter: PrometheusHandle,
}

impl GatewayMetrics {
    /// Installs the global recorder, once in a process.
    pub(crate) fn install() -> Self {
        let exporter = PrometheusBuilder::new()
            .set_buckets(&SECONDS_BUCKETS)
            .and_then(|builder| {
                builder.set_buckets_for_metric(Matcher::Full("tollgate_batch_size".into()), &BATCH_BUCKETS)
            })
            .expect("the buckets are not empty")
            .install_recorder();
        let exporter = exporter.expect("no other recorder is installed");
        describe_counter!("gateway_requests_total", "Requests by response");
        describe_gauge!("gateway_connections", "Open client connections");
        describe_gauge!("gateway_store_up", "1 if the store is available, 0 if it is failing");
        describe_histogram!(
            "gateway_upstream_seconds",
            "Time until the upstream service started to respond"
        );
        let requests = |answer: &'static str| counter!("gateway_requests_total", "answer" => answer);
        Self(Arc::new(Handles {
            forwarded: requests("passed"),
            limited: requests("rate_limit_exceeded"),
            all_slots_held: requests("concurrency_limit_exceeded"),
            unavailable: requests("rate_limiter_unavailable"),
            key_missing: requests("rate_limit_key_missing"),
            key_ambiguous: requests("rate_limit_key_ambiguous"),
            connections: gauge!("gateway_connections"),
            store_up: gauge!("gateway_store_up"),
            upstream: histogram!("gateway_upstream_seconds"),
            exporter,
        }))
    }

    /// Counts a response: as `passed`, or by the `error` of its body.
    pub(crate) fn record_response(&self, response: &ProxyResponse) {
        let Self(handles) = self;
        let extensions = response.extensions();
        if extensions.get::<FromUpstream>().is_some() {
            handles.forwarded.increment(1);
        } else if let Some(error) = extensions.get::<ProxyError>() {
            counter!("gateway_requests_total", "answer" => error.name()).increment(1);
        } else {
            // The rate limit layer responded.
            let counter = match extensions.get() {
                Some(RejectionReason::AllSlotsHeld) => &handles.all_slots_held,
                Some(RejectionReason::Unavailable) => &handles.unavailable,
                Some(RejectionReason::KeyMissing) => &handles.key_missing,
                Some(RejectionReason::KeyAmbiguous) => &handles.key_ambiguous,
                Some(RejectionReason::Limited) | None => &handles.limited,
            };
            counter.increment(1);
        }
    }

    pub(crate) fn record_upstream_latency(&self, latency: Duration) {
        self.0.upstream.record(latency);
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

pub(crate) struct ConnectionGuard(GatewayMetrics);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.0.connections.decrement(1);
    }
}
