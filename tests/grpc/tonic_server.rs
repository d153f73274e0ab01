//! tonic's own server, whose bodies can be empty but not built from a `String`.

use tollgate::{FixedWindow, Global, GrpcResponder, Header, Quota, RateLimitLayer, ResetUnit, Tier};
use tonic::{
    Code,
    codegen::Body as _,
    transport::{self, server::TcpIncoming},
};

use crate::grpc::{
    fixture::{Client, GrpcReply, HealthService, NOTHING, Server, TestStore, check_request, on_both_stores},
    wire::{DENIED_HEADERS, call, lines},
};

on_both_stores![
    a_denial_is_trailers_only,
    every_layer_adds_its_headers,
    headers_can_be_set,
    a_call_without_its_key_is_rejected,
];

/// Serves a health service behind layers, the outermost first. A macro, because the type of the server is too long to write
/// down.
macro_rules! serve {
    ($service:expr, $($layer:expr),*) => {{
        let server = transport::Server::builder()$(.layer($layer))*.add_service($service.server());
        let serve = async |listener| server.serve_with_incoming(TcpIncoming::from(listener)).await.unwrap();
        Server::serve(serve).await
    }};
}

/// A window anchored at the first call.
fn anchored(limit: u32) -> FixedWindow {
    FixedWindow::new(Quota::per_minute(limit)).anchored()
}

async fn a_denial_is_trailers_only<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(Tier::new("api", anchored(1), Global), store).respond_with(GrpcResponder::new());
    let server = serve!(HealthService::default(), layer);
    let client = Client::of(&server);
    let limits = r#"1 0 676 | "api";q=1;w=60 | "api";r=0;t=60"#;
    assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), limits.into()));
    let reply = client.check().await;
    assert_eq!(reply.message, "Too many requests. Please retry after 60 seconds.");
    assert_eq!(reply.all(), (Code::ResourceExhausted, "60000".into(), limits.into()));
    let response = call(client.channel).await;
    assert_eq!(response.status(), 200);
    assert!(response.body().is_end_stream());
    assert_eq!(lines(&response), DENIED_HEADERS);
}

async fn every_layer_adds_its_headers<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = |name, limit| {
        RateLimitLayer::new(Tier::new(name, anchored(limit), Global), store.clone()).respond_with(GrpcResponder::new())
    };
    let service = HealthService::default();
    let server = serve!(service, layer("outer", 10), layer("inner", 1));
    let client = Client::of(&server);
    let limits = |states| format!(r#"1 0 676 | "inner";q=1;w=60 + "outer";q=10;w=60 | {states}"#);
    let admitted = limits(r#""inner";r=0;t=60 + "outer";r=9;t=60"#);
    assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), admitted));
    let denied = limits(r#""inner";r=0;t=60"#);
    assert_eq!(
        client.check().await.all(),
        (Code::ResourceExhausted, "60000".into(), denied)
    );
    assert_eq!(service.served(), [(String::new(), vec![9, 0])]);
}

async fn headers_can_be_set<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(Tier::new("api", anchored(1), Global), store);
    let names = ["x-limit", "x-remaining", "x-reset"];
    let own = GrpcResponder::new()
        .header_names(names)
        .reset_unit(ResetUnit::Delta)
        .without_ietf_headers();
    let server = serve!(HealthService::default(), layer.clone().respond_with(own));
    let client = Client::of(&server);
    let custom = |reply: GrpcReply| {
        assert_eq!(reply.headers.limits(), NOTHING);
        names.map(|name| reply.headers.line(name))
    };
    for _ in 0..2 {
        assert_eq!(custom(client.check().await), ["1", "0", "60"]);
    }

    let ietf = GrpcResponder::new().without_x_headers();
    let server = serve!(HealthService::default(), layer.respond_with(ietf));
    let limits = r#"- - - | "api";q=1;w=60 | "api";r=0;t=60"#;
    assert_eq!(Client::of(&server).check().await.headers.limits(), limits);
}

async fn a_call_without_its_key_is_rejected<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(Tier::new("user", anchored(1), Header::new("x-user-id")), store);
    let server = serve!(HealthService::default(), layer.respond_with(GrpcResponder::new()));
    let client = Client::of(&server);
    let reply = client.check().await;
    assert_eq!(reply.message, "the request lacks the `x-user-id` header");
    assert_eq!(reply.all(), (Code::InvalidArgument, "-".into(), NOTHING.into()));
    let mut call = check_request("");
    call.metadata_mut().insert("x-user-id", "alice".parse().unwrap());
    assert_eq!(client.send(call).await.code, Code::Ok);
}
