//! Responses to calls: codes, messages, headers, and waits in whole milliseconds.

use std::time::Duration;

use axum::extract::Request;
use tollgate::{FixedWindow, Global, Quota, RateLimitLayer, Tier};
use tonic::Code;

use support::http::Headers;

use crate::grpc::fixture::{Client, GrpcReply, HealthService, Server, TestStore, check_request, on_both_stores};

on_both_stores![
    a_denial_has_a_code_a_pushback_and_the_headers,
    an_admitted_call_carries_the_headers,
    a_service_error_passes_with_headers_added,
    a_stream_is_charged_once,
    waits_are_whole_milliseconds_rounded_up,
    an_impossible_call_must_not_be_retried,
];

/// A service behind a limit named `api`, in a window anchored at the first call.
async fn serve<St: TestStore>(quota: Quota) -> (Server, Client) {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(Tier::new("api", FixedWindow::new(quota).anchored(), Global), store);
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let client = Client::of(&server);
    (server, client)
}

async fn a_denial_has_a_code_a_pushback_and_the_headers<St: TestStore>() {
    let (_server, client) = serve::<St>(Quota::per_minute(1)).await;
    assert_eq!(client.check().await.code, Code::Ok);
    let reply = client.check().await;
    assert_eq!(reply.message, "Too many requests. Please retry after 60 seconds.");
    let limits = r#"1 0 676 | "api";q=1;w=60 | "api";r=0;t=60"#;
    assert_eq!(reply.all(), (Code::ResourceExhausted, "60000".into(), limits.into()));
    // gRPC clients read the pushback, not `Retry-After`.
    assert_eq!(reply.headers.line("retry-after"), "-");
}

async fn an_admitted_call_carries_the_headers<St: TestStore>() {
    let (_server, client) = serve::<St>(Quota::per_minute(3)).await;
    for left in [2, 1, 0] {
        let limits = format!(r#"3 {left} 676 | "api";q=3;w=60 | "api";r={left};t=60"#);
        assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), limits));
    }
}

async fn a_service_error_passes_with_headers_added<St: TestStore>() {
    let (_server, client) = serve::<St>(Quota::per_minute(3)).await;
    let reply = client.send(check_request("unknown")).await;
    assert_eq!(reply.message, "unknown service");
    let limits = r#"3 2 676 | "api";q=3;w=60 | "api";r=2;t=60"#;
    assert_eq!(reply.all(), (Code::NotFound, "-".into(), limits.into()));
}

async fn a_stream_is_charged_once<St: TestStore>() {
    let (_server, client) = serve::<St>(Quota::per_minute(1)).await;
    let response = client.health().watch(check_request("")).await.unwrap();
    let limits = r#"1 0 676 | "api";q=1;w=60 | "api";r=0;t=60"#;
    let headers = Headers(response.metadata().clone().into_headers());
    assert_eq!(headers.limits(), limits);
    let mut stream = response.into_inner();
    for _ in 0..2 {
        assert!(stream.message().await.unwrap().is_some());
    }
    assert_eq!(stream.message().await.unwrap(), None);
    let denied = GrpcReply::from(client.health().watch(check_request("")).await);
    assert_eq!(denied.all(), (Code::ResourceExhausted, "60000".into(), limits.into()));
}

async fn waits_are_whole_milliseconds_rounded_up<St: TestStore>() {
    for (window, pushback) in [
        (1, "1"),
        (999, "1"),
        (1_000, "1"),
        (1_001, "2"),
        (999_001, "1000"),
        (59_000_001, "59001"),
        // The largest pushback that clients read. Beyond it, -1 prevents an early retry.
        (2_147_483_647_000, "2147483647"),
        (2_147_483_647_001, "-1"),
    ] {
        let (_server, client) = serve::<St>(Quota::new(1, Duration::from_micros(window))).await;
        assert_eq!(client.check().await.code, Code::Ok);
        let (code, sent, _) = client.check().await.all();
        assert_eq!((code, sent.as_str()), (Code::ResourceExhausted, pushback), "{window}");
    }
}

async fn an_impossible_call_must_not_be_retried<St: TestStore>() {
    let (store, _) = St::fresh();
    let window = FixedWindow::new(Quota::per_minute(10)).anchored();
    let layer = RateLimitLayer::new(Tier::new("api", window, Global).cost(|_: &Request| 11), store);
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let reply = Client::of(&server).check().await;
    assert_eq!(reply.message, "This request asks for more than its limit ever allows.");
    let limits = r#"10 10 616 | "api";q=10;w=60 | "api";r=10;t=60"#;
    assert_eq!(reply.all(), (Code::ResourceExhausted, "-1".into(), limits.into()));
}
