//! Rejections in the body type of the inner service, served by hyper and by tonic.

use std::convert::Infallible;

use axum::body::Bytes;
use http::{Request, Response};
use http_body_util::{
    BodyExt, Full,
    combinators::{BoxBody, UnsyncBoxBody},
};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use tokio::net::TcpListener;
use tollgate::{Global, HttpResponder, MemoryStore, Quota, RateLimitLayer, Respond};
use tower::{Layer, service_fn};

const TOO_MANY: &str = "\"error\":\"rate_limit_exceeded\"";

/// Serves one connection with hyper, behind a limit of one request, and returns the statuses and bodies of two requests.
async fn two_requests<C, R>(responder: R, hello: fn() -> C) -> [(u16, String); 2]
where
    C: http_body::Body<Data = Bytes, Error: Into<tower::BoxError>> + Send + 'static,
    R: Respond<Request<Incoming>, Response<C>, Infallible, Context: Send> + Clone + Send + Sync + 'static,
{
    let limit =
        RateLimitLayer::sliding_log("all", Quota::per_day(1), Global, MemoryStore::new()).respond_with(responder);
    let service = limit.layer(service_fn(move |_: Request<Incoming>| async move {
        Ok(Response::new(hello()))
    }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        connection.await.unwrap();
    });
    let client = reqwest::Client::new();
    let get = async || {
        let response = client.get(format!("http://{address}/")).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let responses = [get().await, get().await];
    drop(client);
    server.await.unwrap();
    responses
}

fn assert_denied([admitted, denied]: [(u16, String); 2]) {
    assert_eq!(admitted, (200, "hello".into()));
    assert_eq!(denied.0, 429);
    assert!(denied.1.contains(TOO_MANY), "{}", denied.1);
}

#[tokio::test]
async fn full() {
    assert_denied(two_requests(HttpResponder::new(), || Full::<Bytes>::from("hello")).await);
}

#[tokio::test]
async fn boxed() {
    let responder = HttpResponder::new().map_body(|text| Full::from(text).boxed());
    let hello = || -> BoxBody<Bytes, Infallible> { Full::from("hello").boxed() };
    assert_denied(two_requests(responder, hello).await);
}

#[tokio::test]
async fn boxed_without_sync() {
    let responder = HttpResponder::new().map_body(|text| Full::from(text).boxed_unsync());
    let hello = || -> UnsyncBoxBody<Bytes, Infallible> { Full::from("hello").boxed_unsync() };
    assert_denied(two_requests(responder, hello).await);
}

#[tokio::test]
async fn of_tonic() {
    let responder = HttpResponder::new().map_body(|text| tonic::body::Body::new(Full::<Bytes>::from(text)));
    assert_denied(two_requests(responder, || tonic::body::Body::new(Full::<Bytes>::from("hello"))).await);
}
