//! Prometheus metrics of the gateway.

use std::{sync::Arc, time::Duration};

use metrics::{Histogram, counter, describe_counter, describe_histogram, histogram};

use super::response::{FromUpstream, ProxyError};
use crate::server::{
    metrics::RequestCounters,
    response::{RejectionReason, ServerResponse},
};

#[derive(Clone)]
pub(crate) struct GatewayMetrics(Arc<Handles>);

struct Handles {
    requests: RequestCounters,
    upstream: Histogram,
}

impl GatewayMetrics {
    /// Registers the metrics, once the recorder is installed.
    pub(crate) fn new() -> Self {
        describe_counter!("gateway_requests_total", "Requests by response");
        describe_histogram!(
            "gateway_upstream_seconds",
            "Time until the upstream service started to respond"
        );
        Self(Arc::new(Handles {
            requests: RequestCounters::new(|answer| counter!("gateway_requests_total", "answer" => answer)),
            upstream: histogram!("gateway_upstream_seconds"),
        }))
    }

    /// Counts a response: as `passed`, or by the `error` of its body.
    pub(crate) fn record_response(&self, response: &ServerResponse) {
        let requests = &self.0.requests;
        let extensions = response.extensions();
        if extensions.get::<FromUpstream>().is_some() {
            requests.record_passed();
        } else if let Some(error) = extensions.get::<ProxyError>() {
            requests.record_error(error.name());
        } else {
            // The rate limit layer responded.
            let reason = extensions.get().copied();
            requests.record_rejected(reason.unwrap_or(RejectionReason::Limited));
        }
    }

    pub(crate) fn record_upstream_latency(&self, latency: Duration) {
        self.0.upstream.record(latency);
    }
}
