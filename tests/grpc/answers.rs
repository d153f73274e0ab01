//! What calls are told: codes, messages, headers, and waits in whole milliseconds.

use std::time::Duration;

use axum::extract::Request;
use tollgate::{FixedWindow, Global, Quota, RateLimitLayer};
use tonic::Code;

use support::http::Headers;

use crate::grpc::fixture::{Answer, Client, Clinic, Server, TestStore, about, on_both_stores};

on_both_stores![
    a_refusal_says_what_clients_can_act_on,
    an_admitted_call_carries_the_headers,
    an_error_of_the_service_passes_with_headers_added,
    a_stream_is_a_call,
    waits_are_whole_milliseconds_rounded_up,
    what_can_never_pass_is_not_to_be_tried_again,
];

/// A service behind a limit called `api`, in a window that begins with the first call.
async fn serve<St: TestStore>(quota: Quota) -> (Server, Client) {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new("api", FixedWindow::new(quota).anchored(), Global, store);
    let server = Server::start(Clinic::default().router().layer(layer)).await;
    let client = Client::of(&server);
    (server, client)
}

async fn a_refusal_says_what_clients_can_act_on<St: TestStore>() {
    let (_server, client) = serve::<St>(Quota::per_minute(1)).await;
    assert_eq!(client.check().await.code, Code::Ok);
    let answer = client.check().await;
    assert_eq!(answer.message, "Too many requests. Please retry after 60 seconds.");
    let limits = r#"1 0 676 | "api";q=1;w=60 | "api";r=0;t=60"#;
    assert_eq!(answer.all(), (Code::ResourceExhausted, "60000".into(), limits.into()));
    // That is for those who do not read the pushback.
    assert_eq!(answer.headers.line("retry-after"), "-");
}

async fn an_admitted_call_carries_the_headers<St: TestStore>() {
    let (_server, client) = serve::<St>(Quota::per_minute(3)).await;
    for left in [2, 1, 0] {
        let limits = format!(r#"3 {left} 676 | "api";q=3;w=60 | "api";r={left};t=60"#);
        assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), limits));
    }
}

async fn an_error_of_the_service_passes_with_headers_added<St: TestStore>() {
    let (_server, client) = serve::<St>(Quota::per_minute(3)).await;
    let answer = client.send(about("stranger")).await;
    assert_eq!(answer.message, "nobody knows it");
    let limits = r#"3 2 676 | "api";q=3;w=60 | "api";r=2;t=60"#;
    assert_eq!(answer.all(), (Code::NotFound, "-".into(), limits.into()));
}

/// However many messages it has, it is charged once.
async fn a_stream_is_a_call<St: TestStore>() {
    let (_server, client) = serve::<St>(Quota::per_minute(1)).await;
    let response = client.health().watch(about("")).await.unwrap();
    let limits = r#"1 0 676 | "api";q=1;w=60 | "api";r=0;t=60"#;
    let headers = Headers(response.metadata().clone().into_headers());
    assert_eq!(headers.limits(), limits);
    let mut stream = response.into_inner();
    for _ in 0..2 {
        assert!(stream.message().await.unwrap().is_some());
    }
    assert_eq!(stream.message().await.unwrap(), None);
    let refused = Answer::from(client.health().watch(about("")).await);
    assert_eq!(refused.all(), (Code::ResourceExhausted, "60000".into(), limits.into()));
}

async fn waits_are_whole_milliseconds_rounded_up<St: TestStore>() {
    for (window, pushback) in [
        (1, "1"),
        (999, "1"),
        (1_000, "1"),
        (1_001, "2"),
        (999_001, "1000"),
        (59_000_001, "59001"),
        // No client reads more than that, and no client should come back earlier.
        (2_147_483_647_000, "2147483647"),
        (2_147_483_647_001, "-1"),
    ] {
        let (_server, client) = serve::<St>(Quota::new(1, Duration::from_micros(window))).await;
        assert_eq!(client.check().await.code, Code::Ok);
        let (code, told, _) = client.check().await.all();
        assert_eq!((code, told.as_str()), (Code::ResourceExhausted, pushback), "{window}");
    }
}

async fn what_can_never_pass_is_not_to_be_tried_again<St: TestStore>() {
    let (store, _) = St::fresh();
    let window = FixedWindow::new(Quota::per_minute(10)).anchored();
    let layer = RateLimitLayer::new("api", window, Global, store).cost(|_: &Request| 11);
    let server = Server::start(Clinic::default().router().layer(layer)).await;
    let answer = Client::of(&server).check().await;
    assert_eq!(answer.message, "This request asks for more than its limit ever allows.");
    let limits = r#"10 10 616 | "api";q=10;w=60 | "api";r=10;t=0"#;
    assert_eq!(answer.all(), (Code::ResourceExhausted, "-1".into(), limits.into()));
}
