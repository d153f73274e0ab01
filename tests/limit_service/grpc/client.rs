//! A client of `envoy.service.ratelimit.v3.RateLimitService`, with messages written from its specification.

use std::net::SocketAddr;

use prost::Message;
use tonic::{
    Status,
    client::Grpc,
    codegen::http::uri::PathAndQuery,
    transport::{Channel, Endpoint},
};
use tonic_prost::ProstCodec;

use support::wait::TEST_TIMEOUT;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Request {
    #[prost(string, tag = "1")]
    pub(crate) domain: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) descriptors: Vec<Descriptor>,
    #[prost(uint32, tag = "3")]
    pub(crate) hits_addend: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Descriptor {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<Entry>,
    #[prost(message, optional, tag = "2")]
    pub(crate) limit: Option<RateLimit>,
    #[prost(message, optional, tag = "3")]
    pub(crate) hits_addend: Option<u64>,
    #[prost(bool, tag = "4")]
    pub(crate) is_negative_hits: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Entry {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    /// Text by the specification, and any bytes by Envoy.
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HeaderValue {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Response {
    #[prost(int32, tag = "1")]
    pub(crate) overall_code: i32,
    #[prost(message, repeated, tag = "2")]
    pub(crate) statuses: Vec<DescriptorStatus>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) response_headers_to_add: Vec<HeaderValue>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) request_headers_to_add: Vec<HeaderValue>,
    #[prost(string, tag = "5")]
    pub(crate) raw_body: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DescriptorStatus {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    #[prost(message, optional, tag = "2")]
    pub(crate) current_limit: Option<RateLimit>,
    #[prost(uint32, tag = "3")]
    pub(crate) limit_remaining: u32,
    #[prost(message, optional, tag = "4")]
    pub(crate) duration_until_reset: Option<Duration>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RateLimit {
    #[prost(uint32, tag = "1")]
    pub(crate) requests_per_unit: u32,
    #[prost(int32, tag = "2")]
    pub(crate) unit: i32,
    #[prost(string, tag = "3")]
    pub(crate) name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Duration {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

pub(crate) const OK: i32 = 1;
pub(crate) const OVER_LIMIT: i32 = 2;

/// A request in the domain `edge`, with the entries of each descriptor.
pub(crate) fn request(descriptors: &[&[(&str, &str)]]) -> Request {
    Request {
        domain: "edge".into(),
        descriptors: descriptors.iter().map(|entries| descriptor(entries)).collect(),
        hits_addend: 0,
    }
}

pub(crate) fn descriptor(entries: &[(&str, &str)]) -> Descriptor {
    let entries = entries.iter().map(|(key, value)| Entry {
        key: (*key).into(),
        value: (*value).into(),
    });
    Descriptor {
        entries: entries.collect(),
        ..Descriptor::default()
    }
}

impl Response {
    /// The added headers, as `name: value`, sorted.
    pub(crate) fn headers(&self) -> Vec<String> {
        let headers = self.response_headers_to_add.iter();
        let mut headers: Vec<_> = headers
            .map(|HeaderValue { key, value }| format!("{key}: {value}"))
            .collect();
        headers.sort();
        headers
    }

    /// The code of each descriptor and what remains of its limit.
    pub(crate) fn remaining(&self) -> Vec<(i32, u32)> {
        let statuses = self.statuses.iter();
        statuses.map(|status| (status.code, status.limit_remaining)).collect()
    }
}

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) channel: Channel,
}

impl Client {
    /// Connects with the first call.
    pub(crate) fn new(address: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        let channel = endpoint.timeout(TEST_TIMEOUT).connect_lazy();
        Self { channel }
    }

    pub(crate) async fn try_call(&self, request: Request) -> Result<Response, Status> {
        self.call_method("ShouldRateLimit", request).await
    }

    pub(crate) async fn call(&self, request: Request) -> Response {
        self.try_call(request).await.unwrap()
    }

    /// The overall code of a request with these descriptors.
    pub(crate) async fn code(&self, descriptors: &[&[(&str, &str)]]) -> i32 {
        self.call(request(descriptors)).await.overall_code
    }

    pub(crate) async fn call_method(&self, method: &str, request: Request) -> Result<Response, Status> {
        let path = format!("/envoy.service.ratelimit.v3.RateLimitService/{method}");
        let path = PathAndQuery::from_maybe_shared(path).unwrap();
        let mut grpc = Grpc::new(self.channel.clone());
        grpc.ready().await.map_err(|error| Status::unknown(error.to_string()))?;
        let codec = ProstCodec::<Request, Response>::default();
        let response = grpc.unary(tonic::Request::new(request), path, codec).await?;
        Ok(response.into_inner())
    }
}
