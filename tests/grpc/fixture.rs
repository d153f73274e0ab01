//! A health service that records decisions, and a client that keeps what a call received.

use std::{
    future::Future,
    sync::{Arc, Mutex},
};

use axum::Router;
use tollgate::DecisionExtension;
use tonic::{
    Code, IntoRequest, Request, Response, Status, async_trait,
    codegen::{BoxStream, tokio_stream},
    service::Routes,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{
    HealthCheckRequest, HealthCheckResponse,
    health_check_response::ServingStatus,
    health_client::HealthClient,
    health_server::{Health, HealthServer},
};

pub(crate) use support::{
    each_store::{NOW, TestStore, on_both_stores},
    http::{NOTHING, Server},
    wait::yield_until,
};
use support::{http::Headers, wait::TEST_TIMEOUT};

/// The service names in served calls, and what remained in each tier by the decision in the request.
pub(crate) type Served = Arc<Mutex<Vec<(String, Vec<u64>)>>>;

/// Reports every service as serving, except `unknown`.
#[derive(Clone, Default)]
pub(crate) struct HealthService {
    pub(crate) served: Served,
}

impl HealthService {
    pub(crate) fn server(&self) -> HealthServer<Self> {
        HealthServer::new(self.clone())
    }

    /// The service as an axum router.
    pub(crate) fn router(&self) -> Router {
        Routes::new(self.server()).into_axum_router()
    }

    pub(crate) fn served(&self) -> Vec<(String, Vec<u64>)> {
        self.served.lock().unwrap().clone()
    }
}

#[async_trait]
impl Health for HealthService {
    type WatchStream = BoxStream<HealthCheckResponse>;

    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        let decision = request.extensions().get::<DecisionExtension>();
        let tiers = decision.map_or(&[][..], |decision| decision.tiers()).iter();
        let left = tiers.map(|tier| tier.verdict().remaining()).collect();
        let service = request.into_inner().service;
        self.served.lock().unwrap().push((service.clone(), left));
        match service.as_str() {
            "unknown" => Err(Status::not_found("unknown service")),
            _ => Ok(Response::new(serving())),
        }
    }

    async fn watch(&self, _: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Ok(Response::new(Box::pin(tokio_stream::iter([
            Ok(serving()),
            Ok(serving()),
        ]))))
    }
}

fn serving() -> HealthCheckResponse {
    let status = ServingStatus::Serving.into();
    HealthCheckResponse { status }
}

/// A health check of the service of this name.
pub(crate) fn check_request(service: &str) -> Request<HealthCheckRequest> {
    let service = service.into();
    HealthCheckRequest { service }.into_request()
}

/// A client with its own connection, which its clones share.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) channel: Channel,
}

impl Client {
    pub(crate) fn of(server: &Server) -> Self {
        let channel = Endpoint::from_shared(server.url())
            .unwrap()
            .timeout(TEST_TIMEOUT)
            .connect_lazy();
        Self { channel }
    }

    pub(crate) fn health(&self) -> HealthClient<Channel> {
        HealthClient::new(self.channel.clone())
    }

    pub(crate) async fn check(&self) -> GrpcReply {
        self.send(check_request("")).await
    }

    pub(crate) fn send(&self, request: Request<HealthCheckRequest>) -> impl Future<Output = GrpcReply> + Send + use<> {
        let mut health = self.health();
        async move { GrpcReply::from(health.check(request).await) }
    }
}

/// What a client received in response to a call.
#[derive(Debug)]
pub(crate) struct GrpcReply {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) headers: Headers,
}

impl<T> From<Result<Response<T>, Status>> for GrpcReply {
    fn from(result: Result<Response<T>, Status>) -> Self {
        let (code, message, metadata) = match result {
            Ok(response) => (Code::Ok, String::new(), response.metadata().clone()),
            Err(status) => (status.code(), status.message().into(), status.metadata().clone()),
        };
        let headers = Headers(metadata.into_headers());
        Self { code, message, headers }
    }
}

impl GrpcReply {
    /// The code, the pushback, and the rate limit headers.
    pub(crate) fn all(&self) -> (Code, String, String) {
        let pushback = self.headers.line("grpc-retry-pushback-ms");
        (self.code, pushback, self.headers.limits())
    }
}
