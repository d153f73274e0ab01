//! Stacked layers: each decides separately, and their headers are combined.

use axum::{
    Router,
    extract::Request,
    http::StatusCode,
    routing::{any, get},
};
use tollgate::{Concurrency, FixedWindow, Global, Header, HttpResponder, Key, Limiter, Quota, RateLimitLayer, Tier};

use crate::over_http::fixture::{Reply, Server, TestStore, on_both_stores};

on_both_stores![
    lists_are_appended_and_the_smaller_remaining_is_reported,
    a_denial_by_the_outer_layer_does_not_charge_the_inner_one,
    a_denial_by_the_inner_layer_keeps_the_outer_charge,
    the_headers_of_a_denying_inner_layer_are_kept,
    the_headers_of_an_inner_layer_that_is_full_are_kept,
    layers_with_other_header_names_add_their_own_headers,
];

/// An outer global limit and an inner limit per user.
async fn serve<St: TestStore>(store: &St, outer: u32, inner: u32) -> Server {
    let inner = RateLimitLayer::fixed_window(
        "user",
        Quota::per_minute(inner),
        Header::new("x-user-id"),
        store.clone(),
    );
    let outer = RateLimitLayer::fixed_window("global", Quota::per_hour(outer), Global, store.clone());
    Server::start(Router::new().route("/", get(async || "done")).layer(inner).layer(outer)).await
}

const USER: &str = r#""user";q=2;w=60"#;

async fn lists_are_appended_and_the_smaller_remaining_is_reported<St: TestStore>() {
    let (store, _) = St::fresh();
    let server = serve(&store, 4, 2).await;
    let policies = format!(r#"{USER} + "global";q=4;w=3600"#);
    for (user, x_headers, states) in [
        ("a", "2 1 660", r#""user";r=1;t=45 + "global";r=3;t=2985"#),
        ("a", "2 0 660", r#""user";r=0;t=45 + "global";r=2;t=2985"#),
        // The same amount remains in both, so the inner layer's headers are kept.
        ("b", "2 1 660", r#""user";r=1;t=45 + "global";r=1;t=2985"#),
        ("c", "4 0 3600", r#""user";r=1;t=45 + "global";r=0;t=2985"#),
    ] {
        let limits = format!("{x_headers} | {policies} | {states}");
        assert_eq!(server.get_as(user).await.all(), (200, "-".into(), limits));
    }
}

async fn a_denial_by_the_outer_layer_does_not_charge_the_inner_one<St: TestStore>() {
    let (store, clock) = St::fresh();
    let server = serve(&store, 1, 2).await;
    assert_eq!(server.get_as("a").await.status, 200);
    let limits = r#"1 0 3600 | "global";q=1;w=3600 | "global";r=0;t=2985"#;
    for _ in 0..3 {
        assert_eq!(server.get_as("a").await.all(), (429, "2985".into(), limits.into()));
    }
    let limit = tollgate::Limit::new("user", FixedWindow::new(Quota::per_minute(2)));
    let user = tollgate::Key::new("x-user-id:a");
    assert_eq!(store.left(&limit, &user).await, 1);
    clock.set(3_600_000_000);
    assert_eq!(server.get_as("a").await.status, 200);
}

async fn a_denial_by_the_inner_layer_keeps_the_outer_charge<St: TestStore>() {
    let (store, _) = St::fresh();
    let server = serve(&store, 100, 2).await;
    for _ in 0..2 {
        assert_eq!(server.get_as("a").await.status, 200);
    }
    for global in [97, 96, 95] {
        let limits = format!(r#"2 0 660 | {USER} + "global";q=100;w=3600 | "user";r=0;t=45"#);
        assert_eq!(server.get_as("a").await.all(), (429, "45".into(), limits));
        let limit = tollgate::Limit::new("global", FixedWindow::new(Quota::per_hour(100)));
        assert_eq!(store.left(&limit, &tollgate::Key::GLOBAL).await, global);
    }
}

/// The inner layer has more left than the outer one, but too little for the request.
async fn the_headers_of_a_denying_inner_layer_are_kept<St: TestStore>() {
    let (store, _) = St::fresh();
    let inner = RateLimitLayer::new(
        Tier::fixed_window("bytes", Quota::per_minute(1000), Global).cost(|_: &Request| 600),
        store.clone(),
    );
    let outer = RateLimitLayer::fixed_window("global", Quota::per_hour(9), Global, store);
    let app = Router::new().route("/", get(async || "done")).layer(inner).layer(outer);
    let server = Server::start(app).await;
    let policies = r#""bytes";q=1000;w=60 + "global";q=9;w=3600"#;
    let limits = format!(r#"9 8 3600 | {policies} | "bytes";r=400;t=45 + "global";r=8;t=2985"#);
    assert_eq!(server.get("/").await.all(), (200, "-".into(), limits));
    let limits = format!(r#"1000 400 660 | {policies} | "bytes";r=400;t=45"#);
    assert_eq!(server.get("/").await.all(), (429, "45".into(), limits));
}

/// Its status is that of an unavailable service, whose responses have the headers of the outer layer.
async fn the_headers_of_an_inner_layer_that_is_full_are_kept<St: TestStore>() {
    let (store, _) = St::fresh();
    let slots = || Tier::new("slots", Concurrency::new(10).unavailable_when_full(), Global);
    let full = RateLimitLayer::new(slots().cost(|_: &Request| 10), store.clone());
    let held = Limiter::new(slots(), store.clone()).check(&Key::GLOBAL).await;
    assert!(held.ok().unwrap().admits());
    let outer = RateLimitLayer::fixed_window("global", Quota::per_hour(9), Global, store);
    let unavailable = get(async || StatusCode::SERVICE_UNAVAILABLE);
    let app = Router::new()
        .route("/full", any(async || "done").layer(full))
        .route("/unavailable", unavailable)
        .layer(outer);
    let server = Server::start(app).await;
    let policy = r#""global";q=9;w=3600"#;
    let full = server.get("/full").await;
    let grpc = server.post("/full").header("content-type", "application/grpc");
    let grpc = Reply::to(grpc).await;
    assert_eq!((full.status, grpc.header("grpc-status")), (503, "14".into()));
    for reply in [full, grpc] {
        assert_eq!(reply.header("ratelimit"), r#""slots";r=9"#);
        assert_eq!(reply.header("x-ratelimit-limit"), "10");
    }
    let unavailable = server.get("/unavailable").await.all();
    let limits = format!(r#"9 6 3600 | {policy} | "global";r=6;t=2985"#);
    assert_eq!(unavailable, (503, "-".into(), limits));
}

async fn layers_with_other_header_names_add_their_own_headers<St: TestStore>() {
    let (store, _) = St::fresh();
    let names = ["x-outer-limit", "x-outer-left", "x-outer-reset"];
    let responder = HttpResponder::new().header_names(names).without_ietf_headers();
    let inner = RateLimitLayer::fixed_window("user", Quota::per_minute(2), Header::new("x-user-id"), store.clone());
    let outer = RateLimitLayer::fixed_window("global", Quota::per_hour(9), Global, store).respond_with(responder);
    let app = Router::new().route("/", get(async || "done")).layer(inner).layer(outer);
    let server = Server::start(app).await;
    let reply = server.get_as("a").await;
    assert_eq!(reply.limits(), format!(r#"2 1 660 | {USER} | "user";r=1;t=45"#));
    assert_eq!(names.map(|name| reply.header(name)), ["9", "8", "3600"]);
}
