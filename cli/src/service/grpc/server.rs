//! `envoy.service.ratelimit.v3.RateLimitService` as a tonic service.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use futures_util::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use tollgate::rules::{Descriptor, DescriptorRequest};
use tonic::{
    Status,
    body::Body,
    server::{Grpc, NamedService, UnaryService},
};
use tonic_prost::ProstCodec;
use tower::{Service, ServiceExt, util::BoxCloneSyncService};

use super::messages::{Code, RateLimitDescriptor, RateLimitRequest, RateLimitResponse};
use crate::{
    server::response::RejectionReason,
    service::metrics::{Api, ServiceMetrics},
};

/// Bounds the work of one call.
const MAX_DESCRIPTORS: usize = 100;
const MAX_ENTRIES: usize = 100;

/// Bounds the memory of one call, before its descriptors can be counted: each takes two bytes of a message at least, and 48 of memory.
const MAX_MESSAGE_BYTES: usize = 256 << 10;

/// The limits as a service of descriptors.
pub(super) type LimitedService = BoxCloneSyncService<DescriptorRequest, RateLimitResponse, Status>;

#[derive(Clone)]
pub(super) struct RateLimitServer {
    limited: LimitedService,
    metrics: ServiceMetrics,
}

impl RateLimitServer {
    pub(super) fn new(limited: LimitedService, metrics: ServiceMetrics) -> Self {
        Self { limited, metrics }
    }
}

impl NamedService for RateLimitServer {
    const NAME: &'static str = "envoy.service.ratelimit.v3.RateLimitService";
}

impl Service<Request<Body>> for RateLimitServer {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let server = self.clone();
        async move {
            Ok(match request.uri().path() {
                "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit" => {
                    Grpc::new(ProstCodec::default())
                        .max_decoding_message_size(MAX_MESSAGE_BYTES)
                        .unary(ShouldRateLimit(server), request)
                        .await
                }
                _ => Status::unimplemented("the only method is ShouldRateLimit").into_http(),
            })
        }
        .boxed()
    }
}

struct ShouldRateLimit(RateLimitServer);

impl UnaryService<RateLimitRequest> for ShouldRateLimit {
    type Response = RateLimitResponse;
    type Future = BoxFuture<'static, Result<tonic::Response<RateLimitResponse>, Status>>;

    fn call(&mut self, request: tonic::Request<RateLimitRequest>) -> Self::Future {
        let RateLimitServer { limited, metrics } = self.0.clone();
        async move {
            let result = match descriptor_request(request.into_inner()) {
                Ok(request) => limited.oneshot(request).await,
                Err(message) => Err(Status::invalid_argument(message)),
            };
            record(&result, &metrics);
            result.map(tonic::Response::new)
        }
        .boxed()
    }
}

fn record(result: &Result<RateLimitResponse, Status>, metrics: &ServiceMetrics) {
    match result {
        Ok(response) if response.overall_code() == Code::OverLimit => {
            metrics.record_rejected(Api::Grpc, RejectionReason::Limited);
        }
        Ok(_) => metrics.record_passed(Api::Grpc),
        Err(status) if status.code() == tonic::Code::Unavailable => {
            metrics.record_rejected(Api::Grpc, RejectionReason::Unavailable);
        }
        Err(_) => metrics.record_error(Api::Grpc, "bad_request"),
    }
}

/// The request for the limits, or an error if the proxy's configuration cannot be right.
fn descriptor_request(request: RateLimitRequest) -> Result<DescriptorRequest, &'static str> {
    let RateLimitRequest {
        domain, descriptors, ..
    } = request;
    if domain.is_empty() {
        return Err("the domain is empty: set `domain` in the proxy's rate limit filter");
    }
    if descriptors.is_empty() {
        return Err("there are no descriptors: set `rate_limits` in the proxy's routes");
    }
    let has_too_many = |descriptor: &RateLimitDescriptor| descriptor.entries.len() > MAX_ENTRIES;
    if descriptors.len() > MAX_DESCRIPTORS || descriptors.iter().any(has_too_many) {
        return Err("there are too many descriptors: the maximum is 100 of 100 entries");
    }
    let default_cost = request.hits_addend.max(1);
    let descriptors = descriptors
        .into_iter()
        .map(|descriptor| to_descriptor(descriptor, default_cost));
    Ok(DescriptorRequest::new(text(domain), descriptors))
}

fn to_descriptor(descriptor: RateLimitDescriptor, default_cost: u32) -> Descriptor {
    let cost = match descriptor.hits_addend {
        // Only a request that was charged can be refunded, and the API does not name it.
        _ if descriptor.is_negative_hits => 0,
        Some(hits) => hits.try_into().unwrap_or(u32::MAX),
        None => default_cost,
    };
    let entries = descriptor
        .entries
        .into_iter()
        .map(|entry| (text(entry.key), text(entry.value)));
    Descriptor::new(entries).with_cost(cost)
}

/// The text with a replacement character for bytes that are not UTF-8.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
