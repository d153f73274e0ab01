//! A health service that knows what was decided, and a client that tells what it was answered.

use std::{
    future::Future,
    sync::{Arc, Mutex},
};

use axum::Router;
use tollgate::Decision;
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
    patience::yielding,
};
use support::{http::Headers, patience::PATIENCE};

/// Who has been asked for, and what was left of the tiers by the decision in the request.
pub(crate) type Served = Arc<Mutex<Vec<(String, Vec<u64>)>>>;

/// All are well, but for one that is not known.
#[derive(Clone, Default)]
pub(crate) struct Clinic {
    pub(crate) served: Served,
}

impl Clinic {
    pub(crate) fn server(&self) -> HealthServer<Self> {
        HealthServer::new(self.clone())
    }

    /// On axum.
    pub(crate) fn router(&self) -> Router {
        Routes::new(self.server()).into_axum_router()
    }

    pub(crate) fn served(&self) -> Vec<(String, Vec<u64>)> {
        self.served.lock().unwrap().clone()
    }
}

#[async_trait]
impl Health for Clinic {
    type WatchStream = BoxStream<HealthCheckResponse>;

    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        let decision = request.extensions().get();
        let tiers = decision.map_or(&[][..], Decision::tiers).iter();
        let left = tiers.map(|tier| tier.verdict().remaining()).collect();
        let service = request.into_inner().service;
        self.served.lock().unwrap().push((service.clone(), left));
        match service.as_str() {
            "stranger" => Err(Status::not_found("nobody knows it")),
            _ => Ok(Response::new(well())),
        }
    }

    async fn watch(&self, _: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Ok(Response::new(Box::pin(tokio_stream::iter([Ok(well()), Ok(well())]))))
    }
}

fn well() -> HealthCheckResponse {
    let status = ServingStatus::Serving.into();
    HealthCheckResponse { status }
}

/// A call about the service of this name.
pub(crate) fn about(service: &str) -> Request<HealthCheckRequest> {
    let service = service.into();
    HealthCheckRequest { service }.into_request()
}

/// A client on a connection of its own, which its clones share.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) channel: Channel,
}

impl Client {
    pub(crate) fn of(server: &Server) -> Self {
        let channel = Endpoint::from_shared(server.url())
            .unwrap()
            .timeout(PATIENCE)
            .connect_lazy();
        Self { channel }
    }

    pub(crate) fn health(&self) -> HealthClient<Channel> {
        HealthClient::new(self.channel.clone())
    }

    pub(crate) async fn check(&self) -> Answer {
        self.send(about("")).await
    }

    pub(crate) fn send(&self, request: Request<HealthCheckRequest>) -> impl Future<Output = Answer> + Send + use<> {
        let mut health = self.health();
        async move { Answer::from(health.check(request).await) }
    }
}

/// What a client was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) headers: Headers,
}

impl<T> From<Result<Response<T>, Status>> for Answer {
    fn from(answer: Result<Response<T>, Status>) -> Self {
        let (code, message, metadata) = match answer {
            Ok(response) => (Code::Ok, String::new(), response.metadata().clone()),
            Err(status) => (status.code(), status.message().into(), status.metadata().clone()),
        };
        let headers = Headers(metadata.into_headers());
        Self { code, message, headers }
    }
}

impl Answer {
    /// The code, the pushback, and all that it says of limits.
    pub(crate) fn all(&self) -> (Code, String, String) {
        let pushback = self.headers.line("grpc-retry-pushback-ms");
        (self.code, pushback, self.headers.limits())
    }
}
