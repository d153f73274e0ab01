//! Calls whose status decides their cost, calls that wait, and rejected calls.

use std::time::Duration;

use axum::{extract::Request, http::Method, response::Response};
use tollgate::{FixedWindow, Global, Quota, RateLimitLayer, Tier};
use tonic::Code;

use crate::grpc::fixture::{
    Client, HealthService, NOTHING, Server, TestStore, check_request, on_both_stores, yield_until,
};

on_both_stores![
    a_failed_call_is_refunded,
    a_call_waits_for_admission,
    a_blocked_call_must_not_be_retried,
    the_headers_of_a_denying_inner_layer_are_kept,
];

fn window() -> FixedWindow {
    FixedWindow::new(Quota::per_minute(2)).anchored()
}

/// A handler's error is a trailers-only response, so its status is in the headers. The status of a successful call is in the
/// trailers.
async fn a_failed_call_is_refunded<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::new("api", window(), Global)
            .refund_if(|response: &Response| response.headers().contains_key("grpc-status")),
        store,
    );
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let client = Client::of(&server);
    let limits = |left, reset, wait| format!(r#"2 {left} {reset} | "api";q=2;w=60 | "api";r={left};t={wait}"#);
    for _ in 0..10 {
        let reply = client.send(check_request("unknown")).await;
        assert_eq!(reply.all(), (Code::NotFound, "-".into(), limits(2, 616, 60)));
    }
    for left in [1, 0] {
        assert_eq!(
            client.check().await.all(),
            (Code::Ok, "-".into(), limits(left, 676, 60))
        );
    }
    let denied = client.send(check_request("unknown")).await;
    assert_eq!(
        denied.all(),
        (Code::ResourceExhausted, "60000".into(), limits(0, 676, 60))
    );
}

async fn a_call_waits_for_admission<St: TestStore>() {
    let ((store, clock), service) = (St::fresh(), HealthService::default());
    let layer = RateLimitLayer::new(Tier::new("api", window(), Global), store).wait(Duration::from_secs(60));
    let server = Server::start(service.router().layer(layer)).await;
    let client = Client::of(&server);
    for _ in 0..2 {
        assert_eq!(client.check().await.code, Code::Ok);
    }
    let third = tokio::spawn(client.send(check_request("")));
    yield_until(async || clock.pending_sleeps() == 1).await;
    assert_eq!(service.served().len(), 2);
    clock.advance(Duration::from_secs(60));
    assert_eq!(third.await.unwrap().code, Code::Ok);
    assert_eq!(service.served().len(), 3);
}

async fn a_blocked_call_must_not_be_retried<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(Tier::new("api", window(), Global), store)
        .block(Method::POST)
        .exempt(|_: &Request| true);
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let reply = Client::of(&server).check().await;
    assert_eq!(reply.message, "This request is not allowed.");
    assert_eq!(reply.all(), (Code::PermissionDenied, "-".into(), NOTHING.into()));
}

/// The inner layer has more units left than the outer one, but too few for the call.
async fn the_headers_of_a_denying_inner_layer_are_kept<St: TestStore>() {
    let (store, _) = St::fresh();
    let bytes = FixedWindow::new(Quota::per_minute(1000)).anchored();
    let inner = RateLimitLayer::new(Tier::new("bytes", bytes, Global).cost(|_: &Request| 600), store.clone());
    let outer = RateLimitLayer::new(Tier::new("api", window(), Global), store);
    let server = Server::start(HealthService::default().router().layer(inner).layer(outer)).await;
    let client = Client::of(&server);
    let policies = r#""bytes";q=1000;w=60 + "api";q=2;w=60"#;
    let limits = format!(r#"2 1 676 | {policies} | "bytes";r=400;t=60 + "api";r=1;t=60"#);
    assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), limits));
    let limits = format!(r#"1000 400 676 | {policies} | "bytes";r=400;t=60"#);
    assert_eq!(
        client.check().await.all(),
        (Code::ResourceExhausted, "60000".into(), limits)
    );
}
