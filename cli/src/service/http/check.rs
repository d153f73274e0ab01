//! `/check`: asks the limits about the request that a proxy describes.

use std::convert::Infallible;

use http::{Method, Request, Response, StatusCode, request::Parts};
use tollgate::RuleSet;
use tower::{ServiceExt, service_fn};

use super::{error::CheckError, original_request::original_request, untrusted::UntrustedProxies};
use crate::{
    server::{
        responder::ServerResponder,
        response::{RejectionReason, ServerResponse},
        store::{BoxedService, ServerStore},
    },
    service::metrics::{Api, ServiceMetrics},
};

/// The status of a request that the limits admit, inside of the rate limit layer. No `refund_status` can match it: the service does
/// not see the response of the original request, so its charge has to stay.
const ADMITTED: u16 = 999;

pub(super) struct Check {
    limited: BoxedService<()>,
    rules: RuleSet,
    untrusted: UntrustedProxies,
    metrics: ServiceMetrics,
}

impl Check {
    pub(super) fn new(store: &ServerStore, rules: RuleSet, metrics: ServiceMetrics) -> Self {
        let admitted = StatusCode::from_u16(ADMITTED).expect("it has three digits");
        let admit = service_fn(move |_: Request<()>| async move {
            let mut response = ServerResponse::default();
            *response.status_mut() = admitted;
            Ok::<_, Infallible>(response)
        });
        // A gRPC denial has the status 200, which would tell the proxy to let the request pass.
        let responder = ServerResponder::for_proxies();
        Self {
            limited: store.rate_limit(rules.clone(), responder, admit),
            rules,
            untrusted: UntrustedProxies::default(),
            metrics,
        }
    }

    pub(super) async fn call(&self, head: Parts) -> Result<ServerResponse, CheckError> {
        if !matches!(head.method, Method::GET | Method::HEAD | Method::POST) {
            return Err(CheckError::MethodNotAllowed("GET, HEAD, POST"));
        }
        let denied_status = denied_status(head.uri.query())?;
        let request = original_request(head)?;
        self.untrusted.warn(&self.rules, &request);
        let Ok(mut response) = self.limited.clone().oneshot(request).await;
        if response.status().as_u16() == ADMITTED {
            self.metrics.record_passed(Api::Http);
            let (head, _) = response.into_parts();
            response = Response::from_parts(head, Default::default());
            *response.status_mut() = StatusCode::OK;
        } else {
            let reason = response.extensions().get().copied();
            self.metrics
                .record_rejected(Api::Http, reason.unwrap_or(RejectionReason::Limited));
        }
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            *response.status_mut() = denied_status;
        }
        Ok(response)
    }
}

/// The status of denials, by the query of the check.
fn denied_status(query: Option<&str>) -> Result<StatusCode, CheckError> {
    match query {
        None | Some("") => Ok(StatusCode::TOO_MANY_REQUESTS),
        Some("deny=403") => Ok(StatusCode::FORBIDDEN),
        Some(_) => Err(CheckError::BadRequest(
            "The query of /check must be empty, or deny=403 for denials with 403 instead of 429. The query of the original request is expected in X-Forwarded-Uri."
                .into(),
        )),
    }
}
