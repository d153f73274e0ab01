//! Figures for Prometheus: the gateway's own, and those of the limits, which the crate measures by itself.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use metrics::{
    Counter, Gauge, Histogram, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::time::interval;

use crate::gateway::answer::{Answer, Failing, Passed};

/// How often figures are put together that nobody has asked for.
const UPKEEP: Duration = Duration::from_secs(5);

/// From half a millisecond to half a minute.
const SECONDS: [f64; 12] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0, 30.0,
];

/// Of requests that share a call: up to as many as ever do.
const BATCHES: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

#[derive(Clone)]
pub(crate) struct Measures(Arc<Handles>);

struct Handles {
    passed: Counter,
    refused: Counter,
    unavailable: Counter,
    key_missing: Counter,
    connections: Gauge,
    store_up: Gauge,
    upstream: Histogram,
    page: PrometheusHandle,
}

impl Measures {
    /// Begins to measure, once in a process.
    pub(crate) fn start() -> Self {
        let page = PrometheusBuilder::new()
            .set_buckets(&SECONDS)
            .and_then(|page| page.set_buckets_for_metric(Matcher::Full("tollgate_batch_size".into()), &BATCHES))
            .expect("there are some of each")
            .install_recorder();
        let page = page.expect("nobody else measures");
        describe_counter!("gateway_requests_total", "Requests, by what they were answered");
        describe_gauge!("gateway_connections", "Clients that are connected");
        describe_gauge!("gateway_store_up", "1 while the store is asked, 0 while it fails");
        describe_histogram!(
            "gateway_upstream_seconds",
            "How long the service took until it began to answer"
        );
        let requests = |answer: &'static str| counter!("gateway_requests_total", "answer" => answer);
        Self(Arc::new(Handles {
            passed: requests("passed"),
            refused: requests("rate_limit_exceeded"),
            unavailable: requests("rate_limiter_unavailable"),
            key_missing: requests("rate_limit_key_missing"),
            connections: gauge!("gateway_connections"),
            store_up: gauge!("gateway_store_up"),
            upstream: histogram!("gateway_upstream_seconds"),
            page,
        }))
    }

    /// Counts an answer: as passed, or by the `error` of its body.
    pub(crate) fn answered(&self, answer: &Answer) {
        let Self(handles) = self;
        let extensions = answer.extensions();
        if extensions.get::<Passed>().is_some() {
            handles.passed.increment(1);
        } else if let Some(failing) = extensions.get::<Failing>() {
            counter!("gateway_requests_total", "answer" => failing.name()).increment(1);
        } else {
            // The limits have answered.
            let counter = match answer.status() {
                StatusCode::TOO_MANY_REQUESTS => &handles.refused,
                StatusCode::SERVICE_UNAVAILABLE => &handles.unavailable,
                _ => &handles.key_missing,
            };
            counter.increment(1);
        }
    }

    pub(crate) fn upstream_took(&self, time: Duration) {
        self.0.upstream.record(time);
    }

    /// A connection that is open until this is dropped.
    pub(crate) fn connection(&self) -> Open {
        self.0.connections.increment(1);
        Open(self.clone())
    }

    /// All of it, as Prometheus reads it.
    pub(crate) fn page(&self, store_is_up: bool) -> String {
        self.0.store_up.set(u8::from(store_is_up));
        self.0.page.render()
    }

    /// Puts together again and again what has been recorded, which takes room until then.
    pub(crate) async fn upkeep(self) {
        let mut turn = interval(UPKEEP);
        loop {
            turn.tick().await;
            self.0.page.run_upkeep();
        }
    }
}

pub(crate) struct Open(Measures);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.0.connections.decrement(1);
    }
}
