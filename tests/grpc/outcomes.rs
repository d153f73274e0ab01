//! Calls whose status decides what they cost, calls that wait, and calls that are not served.

use std::time::Duration;

use axum::{extract::Request, http::Method, response::Response};
use tollgate::{FixedWindow, Global, Quota, RateLimitLayer};
use tonic::Code;

use crate::grpc::fixture::{Client, Clinic, NOTHING, Server, TestStore, about, on_both_stores, yielding};

on_both_stores![
    a_call_that_fails_is_given_back,
    a_call_waits_for_its_turn,
    a_call_that_is_denied_is_not_to_be_tried_again,
    what_an_inner_layer_refuses_it_speaks_for,
];

fn window() -> FixedWindow {
    FixedWindow::new(Quota::per_minute(2)).anchored()
}

/// A handler's error is trailers-only, so its status is in the headers. Of a call that succeeds it is in the trailers.
async fn a_call_that_fails_is_given_back<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new("api", window(), Global, store)
        .refund_if(|response: &Response| response.headers().contains_key("grpc-status"));
    let server = Server::start(Clinic::default().router().layer(layer)).await;
    let client = Client::of(&server);
    let limits = |left, reset, wait| format!(r#"2 {left} {reset} | "api";q=2;w=60 | "api";r={left};t={wait}"#);
    for _ in 0..10 {
        let answer = client.send(about("stranger")).await;
        assert_eq!(answer.all(), (Code::NotFound, "-".into(), limits(2, 616, 0)));
    }
    for left in [1, 0] {
        assert_eq!(
            client.check().await.all(),
            (Code::Ok, "-".into(), limits(left, 676, 60))
        );
    }
    let refused = client.send(about("stranger")).await;
    assert_eq!(
        refused.all(),
        (Code::ResourceExhausted, "60000".into(), limits(0, 676, 60))
    );
}

async fn a_call_waits_for_its_turn<St: TestStore>() {
    let ((store, clock), clinic) = (St::fresh(), Clinic::default());
    let layer = RateLimitLayer::new("api", window(), Global, store).wait(Duration::from_secs(60));
    let server = Server::start(clinic.router().layer(layer)).await;
    let client = Client::of(&server);
    for _ in 0..2 {
        assert_eq!(client.check().await.code, Code::Ok);
    }
    let third = tokio::spawn(client.send(about("")));
    yielding(async || clock.waiting() == 1).await;
    assert_eq!(clinic.served().len(), 2);
    clock.advance(Duration::from_secs(60));
    assert_eq!(third.await.unwrap().code, Code::Ok);
    assert_eq!(clinic.served().len(), 3);
}

async fn a_call_that_is_denied_is_not_to_be_tried_again<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new("api", window(), Global, store)
        .deny(Method::POST)
        .exempt(|_: &Request| true);
    let server = Server::start(Clinic::default().router().layer(layer)).await;
    let answer = Client::of(&server).check().await;
    assert_eq!(answer.message, "This request is not allowed.");
    assert_eq!(answer.all(), (Code::PermissionDenied, "-".into(), NOTHING.into()));
}

/// The inner one has more left than the outer one, and not enough.
async fn what_an_inner_layer_refuses_it_speaks_for<St: TestStore>() {
    let (store, _) = St::fresh();
    let bytes = FixedWindow::new(Quota::per_minute(1000)).anchored();
    let inner = RateLimitLayer::new("bytes", bytes, Global, store.clone()).cost(|_: &Request| 600);
    let outer = RateLimitLayer::new("api", window(), Global, store);
    let server = Server::start(Clinic::default().router().layer(inner).layer(outer)).await;
    let client = Client::of(&server);
    let policies = r#""bytes";q=1000;w=60 + "api";q=2;w=60"#;
    let limits = format!(r#"2 1 676 | {policies} | "bytes";r=400;t=60 + "api";r=1;t=60"#);
    assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), limits));
    let limits = format!(r#"1000 400 676 | {policies} | "bytes";r=400;t=60 + "api";r=0;t=60"#);
    assert_eq!(
        client.check().await.all(),
        (Code::ResourceExhausted, "60000".into(), limits)
    );
}
