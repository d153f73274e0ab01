//! tonic's own server, whose bodies can be empty but not made from a `String`.

use tollgate::{FixedWindow, Global, GrpcAnswers, Header, Quota, RateLimitLayer, ResetUnit};
use tonic::{
    Code,
    codegen::Body as _,
    transport::{self, server::TcpIncoming},
};

use crate::grpc::{
    fixture::{Answer, Client, Clinic, NOTHING, Server, TestStore, about, on_both_stores},
    wire::{REFUSED, call, lines},
};

on_both_stores![
    a_refusal_ends_with_its_headers,
    calls_are_told_of_every_layer,
    headers_can_be_set,
    a_call_without_its_key_is_refused,
];

/// Serves a health service behind layers, the outermost first. Their types are for a compiler to name.
macro_rules! serve {
    ($clinic:expr, $($layer:expr),*) => {{
        let server = transport::Server::builder()$(.layer($layer))*.add_service($clinic.server());
        let serve = async |listener| server.serve_with_incoming(TcpIncoming::from(listener)).await.unwrap();
        Server::serve(serve).await
    }};
}

/// In a window that begins with the first call.
fn anchored(limit: u32) -> FixedWindow {
    FixedWindow::new(Quota::per_minute(limit)).anchored()
}

async fn a_refusal_ends_with_its_headers<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new("api", anchored(1), Global, store).respond_with(GrpcAnswers::new());
    let server = serve!(Clinic::default(), layer);
    let client = Client::of(&server);
    let limits = r#"1 0 676 | "api";q=1;w=60 | "api";r=0;t=60"#;
    assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), limits.into()));
    let answer = client.check().await;
    assert_eq!(answer.message, "Too many requests. Please retry after 60 seconds.");
    assert_eq!(answer.all(), (Code::ResourceExhausted, "60000".into(), limits.into()));
    let response = call(client.channel).await;
    assert_eq!(response.status(), 200);
    assert!(response.body().is_end_stream());
    assert_eq!(lines(&response), REFUSED);
}

async fn calls_are_told_of_every_layer<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = |name, limit| {
        RateLimitLayer::new(name, anchored(limit), Global, store.clone()).respond_with(GrpcAnswers::new())
    };
    let clinic = Clinic::default();
    let server = serve!(clinic, layer("outer", 10), layer("inner", 1));
    let client = Client::of(&server);
    let limits = |inner, outer| {
        let policies = r#""inner";q=1;w=60 + "outer";q=10;w=60"#;
        format!(r#"1 0 676 | {policies} | "inner";r={inner};t=60 + "outer";r={outer};t=60"#)
    };
    assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), limits(0, 9)));
    assert_eq!(
        client.check().await.all(),
        (Code::ResourceExhausted, "60000".into(), limits(0, 8))
    );
    assert_eq!(clinic.served(), [(String::new(), vec![9, 0])]);
}

async fn headers_can_be_set<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new("api", anchored(1), Global, store);
    let names = ["x-limit", "x-remaining", "x-reset"];
    let own = GrpcAnswers::new()
        .header_names(names)
        .reset_unit(ResetUnit::Delta)
        .without_ietf_headers();
    let server = serve!(Clinic::default(), layer.clone().respond_with(own));
    let client = Client::of(&server);
    let told = |answer: Answer| {
        assert_eq!(answer.headers.limits(), NOTHING);
        names.map(|name| answer.headers.line(name))
    };
    for _ in 0..2 {
        assert_eq!(told(client.check().await), ["1", "0", "60"]);
    }

    let ietf = GrpcAnswers::new().without_x_headers();
    let server = serve!(Clinic::default(), layer.respond_with(ietf));
    let limits = r#"- - - | "api";q=1;w=60 | "api";r=0;t=60"#;
    assert_eq!(Client::of(&server).check().await.headers.limits(), limits);
}

async fn a_call_without_its_key_is_refused<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new("user", anchored(1), Header::new("x-user-id"), store);
    let server = serve!(Clinic::default(), layer.respond_with(GrpcAnswers::new()));
    let client = Client::of(&server);
    let answer = client.check().await;
    assert_eq!(answer.message, "the request lacks the `x-user-id` header");
    assert_eq!(answer.all(), (Code::InvalidArgument, "-".into(), NOTHING.into()));
    let mut call = about("");
    call.metadata_mut().insert("x-user-id", "alice".parse().unwrap());
    assert_eq!(client.send(call).await.code, Code::Ok);
}
