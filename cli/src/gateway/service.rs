//! The gateway as a service: normalizes a request, applies the rate limits, forwards it.

use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;
use tollgate::RuleSet;
use tower::{ServiceExt, service_fn, util::BoxCloneSyncService};

use super::{metrics::GatewayMetrics, normalize::normalize_request, upstream::Proxy};
use crate::server::{
    responder::ServerResponder,
    response::ServerResponse,
    store::{BoxedService, ServerStore},
};

#[derive(Clone)]
pub(crate) struct GatewayService {
    limited: BoxedService<Incoming>,
    metrics: GatewayMetrics,
}

impl GatewayService {
    /// Without `limits`, it only forwards.
    pub(crate) fn new(proxy: Proxy, limits: Option<(&ServerStore, RuleSet)>, metrics: GatewayMetrics) -> Self {
        let proxy = Arc::new(proxy);
        let forward = service_fn(move |request| {
            let proxy = Arc::clone(&proxy);
            async move { Ok(proxy.forward(request).await) }
        });
        let limited = match limits {
            Some((store, rules)) => store.rate_limit(rules, ServerResponder::for_clients(), forward),
            None => BoxCloneSyncService::new(forward),
        };
        Self { limited, metrics }
    }

    pub(crate) async fn call(self, request: Request<Incoming>) -> ServerResponse {
        let response = match normalize_request(request) {
            Ok(request) => self.limited.oneshot(request).await,
            Err(error) => Ok(error.into_response()),
        };
        let Ok(response) = response;
        self.metrics.record_response(&response);
        response
    }
}
