//! A client with persistent connections that sends a path as it is given.

use std::net::Ipv4Addr;

use axum::http::{Method, Request};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};

use support::{http::Headers, wait::with_timeout};

pub(crate) struct Client(legacy::Client<HttpConnector, Full<Bytes>>);

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Headers,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::at(Ipv4Addr::LOCALHOST)
    }

    /// A client at this address of the loopback network.
    pub(crate) fn at(address: Ipv4Addr) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_local_address(Some(address.into()));
        connector.set_nodelay(true);
        Self(legacy::Client::builder(TokioExecutor::new()).build(connector))
    }

    /// The response, or none if there is no connection.
    pub(crate) async fn try_send(&self, request: Request<Full<Bytes>>) -> Option<Reply> {
        let response = with_timeout(self.0.request(request)).await.ok()?;
        let (head, body) = response.into_parts();
        let body = with_timeout(body.collect()).await.unwrap().to_bytes();
        Some(Reply {
            status: head.status.as_u16(),
            headers: Headers(head.headers),
            body: String::from_utf8(body.into()).unwrap(),
        })
    }
}

/// A request with these headers.
pub(crate) fn request(method: Method, url: &str, headers: &[(&str, &str)], body: &'static str) -> Request<Full<Bytes>> {
    let request = Request::builder().method(method).uri(url);
    let with_headers = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    with_headers.body(body.into()).unwrap()
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> String {
        self.headers.line(name)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}
