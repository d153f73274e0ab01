//! An OpenTelemetry exporter, which retries a denied call only if the details of its status say when.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, HeaderValue, Response, header::CONTENT_TYPE},
    routing::post,
};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::trace::SpanExporter as _;
use tollgate::{Decision, FixedWindow, Global, MemoryStore, Quota, RateLimitLayer, Tier};

use crate::grpc::fixture::Server;

const WINDOW: Duration = Duration::from_millis(300);

/// An empty response message, and the status OK in trailers.
fn exported() -> Response<Body> {
    let message = Full::new(Bytes::from_static(&[0; 5]));
    let trailers = HeaderMap::from_iter([("grpc-status".parse().unwrap(), HeaderValue::from_static("0"))]);
    let body = message.with_trailers(async { Some(Ok(trailers)) });
    let mut response = Response::new(Body::new(body));
    let content_type = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

#[tokio::test]
async fn an_otlp_exporter_retries_after_the_stated_delay() {
    let admitted = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&admitted);
    let export = async move |decision: Decision| {
        record.lock().unwrap().push(decision.now());
        exported()
    };
    let window = FixedWindow::new(Quota::new(1, WINDOW)).anchored();
    let router = Router::new()
        .route(
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
            post(export),
        )
        .layer(RateLimitLayer::new(
            Tier::new("spans", window, Global),
            MemoryStore::new(),
        ));
    let server = Server::start(router).await;
    let exporter = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(server.url())
        .with_protocol(Protocol::Grpc)
        .build()
        .unwrap();
    for _ in 0..2 {
        exporter.export(Vec::new()).await.unwrap();
    }
    let admitted = admitted.lock().unwrap();
    assert_eq!(admitted.len(), 2);
    assert!(admitted[1] >= admitted[0] + WINDOW.as_micros() as u64, "{admitted:?}");
}
