//! Prometheus metrics of the service.

use std::sync::Arc;

use metrics::{counter, describe_counter};

use crate::server::{
    metrics::{RequestCounters, ServerMetrics},
    response::RejectionReason,
};

/// The API that a request arrived by.
#[derive(Clone, Copy)]
pub(crate) enum Api {
    Http,
    Grpc,
}

#[derive(Clone)]
pub(crate) struct ServiceMetrics(Arc<Handles>);

struct Handles {
    http: RequestCounters,
    grpc: RequestCounters,
    server: ServerMetrics,
}

impl Api {
    fn counters(self) -> RequestCounters {
        let api = match self {
            Self::Http => "http",
            Self::Grpc => "grpc",
        };
        RequestCounters::new(move |answer| counter!("service_requests_total", "api" => api, "answer" => answer))
    }
}

impl ServiceMetrics {
    /// Registers the metrics, once the recorder is installed.
    pub(crate) fn new(server: ServerMetrics) -> Self {
        describe_counter!("service_requests_total", "Requests by API and answer");
        Self(Arc::new(Handles {
            http: Api::Http.counters(),
            grpc: Api::Grpc.counters(),
            server,
        }))
    }

    pub(crate) fn record_passed(&self, api: Api) {
        self.requests(api).record_passed();
    }

    pub(crate) fn record_rejected(&self, api: Api, reason: RejectionReason) {
        self.requests(api).record_rejected(reason);
    }

    /// Counts a request that the limits did not decide, by the `error` of its response.
    pub(crate) fn record_error(&self, api: Api, error: &'static str) {
        self.requests(api).record_error(error);
    }

    /// The metrics that all servers have, like the gauge of connections.
    pub(crate) fn server(&self) -> &ServerMetrics {
        &self.0.server
    }

    fn requests(&self, api: Api) -> &RequestCounters {
        match api {
            Api::Http => &self.0.http,
            Api::Grpc => &self.0.grpc,
        }
    }
}
