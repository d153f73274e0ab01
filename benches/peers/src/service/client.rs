//! A gRPC client of a rate limit service, over one connection, as each worker thread of Envoy has one.

use tonic::{
    client::Grpc,
    codegen::http::uri::PathAndQuery,
    transport::{Channel, Endpoint},
};
use tonic_prost::ProstCodec;

use super::messages::{OK, RateLimitRequest, RateLimitResponse};

pub const METHOD: &str = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

#[derive(Clone)]
pub struct Client(Channel);

impl Client {
    /// Connects with the first call, on the runtime that it is made from.
    pub fn new(url: &str) -> Self {
        let endpoint = Endpoint::from_shared(url.to_owned()).expect("a valid address");
        Self(endpoint.tcp_nodelay(true).connect_lazy())
    }

    /// A call, which has to be admitted.
    pub async fn call(self, request: RateLimitRequest) {
        let mut grpc = Grpc::new(self.0);
        grpc.ready().await.expect("the service is up");
        let codec = ProstCodec::<RateLimitRequest, RateLimitResponse>::default();
        let response = grpc
            .unary(tonic::Request::new(request), PathAndQuery::from_static(METHOD), codec)
            .await;
        assert_eq!(response.expect("the service responds").into_inner().overall_code, OK);
    }
}
