//! Responses on the wire, before a client library interprets them.

use axum::{
    Router,
    http::{
        Request,
        header::{CONTENT_TYPE, TE},
    },
    routing::post,
};
use tollgate::{FixedWindow, Global, Key, KeyError, MemoryStore, Quota, RateLimitLayer, Tier};
use tonic::{Code, body::Body, codegen::Body as _, transport::Channel};
use tower::ServiceExt;

use support::http::Reply;

use crate::grpc::fixture::{Client, HealthService, Server, TestStore, on_both_stores};

on_both_stores![a_denial_is_trailers_only];

/// The response to a call without a message, which the layer does not read.
pub(crate) async fn call(channel: Channel) -> axum::http::Response<Body> {
    let request = Request::post("/grpc.health.v1.Health/Check")
        .header(CONTENT_TYPE, "application/grpc+proto")
        .header(TE, "trailers")
        .body(Body::empty());
    channel.oneshot(request.unwrap()).await.unwrap()
}

/// The headers except the date, sorted.
pub(crate) fn lines<B>(response: &axum::http::Response<B>) -> Vec<String> {
    let headers = response.headers().iter();
    let headers = headers.filter(|(name, _)| *name != "date");
    let mut lines: Vec<_> = headers
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    lines.sort();
    lines
}

pub(crate) const DENIED_HEADERS: [&str; 10] = [
    "content-type: application/grpc",
    "grpc-message: Too many requests. Please retry after 60 seconds.",
    "grpc-retry-pushback-ms: 60000",
    concat!(
        "grpc-status-details-bin: CAgSMVRvbyBtYW55IHJlcXVlc3RzLiBQbGVhc2UgcmV0cnkgYWZ0ZXIgNjAgc2Vjb25kcy4aSwordHlwZS5nb29nbGVhcGlzLmNv",
        "bS9nb29nbGUucnBjLlF1b3RhRmFpbHVyZRIcChoKA2FwaRITbW9yZSB0aGFuIDEgaW4gNjAgcxowCih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0",
        "cnlJbmZvEgQKAgg8",
    ),
    "grpc-status: 8",
    r#"ratelimit-policy: "api";q=1;w=60"#,
    r#"ratelimit: "api";r=0;t=60"#,
    "x-ratelimit-limit: 1",
    "x-ratelimit-remaining: 0",
    "x-ratelimit-reset: 676",
];

async fn a_denial_is_trailers_only<St: TestStore>() {
    let (store, _) = St::fresh();
    let window = FixedWindow::new(Quota::per_minute(1)).anchored();
    let layer = RateLimitLayer::new(Tier::new("api", window, Global), store);
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let client = Client::of(&server);
    assert_eq!(client.check().await.code, Code::Ok);
    let response = call(client.channel).await;
    assert_eq!(response.status(), 200);
    assert!(response.body().is_end_stream());
    assert_eq!(lines(&response), DENIED_HEADERS);
}

#[tokio::test]
async fn any_message_is_percent_encoded() {
    let key = |_: &axum::extract::Request| -> Result<Key, KeyError> {
        Err(KeyError::missing("a name\tlike Zoë,\r\nor ~100 %\u{7f}"))
    };
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), key, MemoryStore::new());
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let client = Client::of(&server);
    let reply = client.check().await;
    let message = "the request lacks a name\tlike Zoë,\r\nor ~100 %\u{7f}";
    assert_eq!((reply.code, reply.message.as_str()), (Code::InvalidArgument, message));
    let encoded = "the request lacks a name%09like Zo%C3%AB,%0D%0Aor ~100 %25%7F";
    assert_eq!(call(client.channel).await.headers()["grpc-message"], encoded);
}

#[tokio::test]
async fn grpc_is_detected_by_content_type() {
    let key = |_: &axum::extract::Request| -> Result<Key, KeyError> { Err(KeyError::missing("a name")) };
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), key, MemoryStore::new());
    let server = Server::start(Router::new().route("/", post(async || "served")).layer(layer)).await;
    for (media_type, is_grpc) in [
        ("application/grpc", true),
        ("application/grpc+proto", true),
        ("application/grpc+json", true),
        ("application/grpc;charset=utf-8", true),
        ("Application/gRPC", true),
        ("application/grpc-web", false),
        ("application/grpc-web+proto", false),
        ("application/grpc-web-text", false),
        ("application/grpcs", false),
        ("application/grp", false),
        ("application/json", false),
        ("text/plain;application/grpc", false),
        ("", false),
    ] {
        let reply = Reply::to(server.post("/").header(CONTENT_TYPE, media_type)).await;
        let (status, code) = if is_grpc { (200, "3") } else { (400, "-") };
        assert_eq!(
            (reply.status, reply.header("grpc-status").as_str()),
            (status, code),
            "{media_type}"
        );
        assert_eq!(reply.body.is_empty(), is_grpc);
    }
    assert_eq!(Reply::to(server.post("/")).await.status, 400);
}
