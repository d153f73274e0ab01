//! A rate limit service that counts each descriptor in turn, in the naive way.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{net::TcpListener, runtime::Runtime};
use tonic::{
    Status,
    body::Body,
    codegen::http::{Request, Response},
    server::{Grpc, NamedService, UnaryService},
    transport::{Server, server::TcpIncoming},
};
use tonic_prost::ProstCodec;
use tower::Service;

use super::messages::{OK, RateLimitRequest, RateLimitResponse};
use crate::naive::Naive;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A server on its own threads, as many as there are cores. It stops on drop.
pub struct NaiveServer {
    pub url: String,
    _runtime: Runtime,
}

impl NaiveServer {
    pub fn start(naive: Naive) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("a bound listener"));
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        runtime.spawn(
            Server::builder()
                .add_service(NaiveService(naive))
                .serve_with_incoming(incoming),
        );
        Self { url, _runtime: runtime }
    }
}

#[derive(Clone)]
struct NaiveService(Naive);

impl NamedService for NaiveService {
    const NAME: &'static str = "envoy.service.ratelimit.v3.RateLimitService";
}

impl Service<Request<Body>> for NaiveService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(Grpc::new(ProstCodec::default()).unary(service, request).await) })
    }
}

impl UnaryService<RateLimitRequest> for NaiveService {
    type Response = RateLimitResponse;
    type Future = BoxFuture<Result<tonic::Response<RateLimitResponse>, Status>>;

    fn call(&mut self, request: tonic::Request<RateLimitRequest>) -> Self::Future {
        let naive = self.0.clone();
        Box::pin(async move {
            let user = request.into_inner().descriptors[0].entries[0].value.parse();
            let admitted = naive.acquire(user.expect("the number of a user")).await;
            let overall_code = if admitted { OK } else { OK + 1 };
            Ok(tonic::Response::new(RateLimitResponse { overall_code }))
        })
    }
}
