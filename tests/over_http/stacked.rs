//! Layers around one another: each asks for itself, and headers add up.

use axum::{Router, extract::Request, routing::get};
use tollgate::{FixedWindow, Global, Header, HttpAnswers, Quota, RateLimitLayer};

use crate::over_http::fixture::{Server, TestStore, on_both_stores};

on_both_stores![
    lists_add_up_and_the_smaller_remaining_speaks,
    a_refusal_of_the_outer_layer_is_never_seen_by_the_inner_one,
    a_refusal_of_the_inner_layer_leaves_the_outer_charge,
    what_an_inner_layer_refuses_it_speaks_for,
    layers_of_other_header_names_speak_for_themselves,
];

/// An outer limit for everybody and an inner one for a user.
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

async fn lists_add_up_and_the_smaller_remaining_speaks<St: TestStore>() {
    let (store, _) = St::fresh();
    let server = serve(&store, 4, 2).await;
    let policies = format!(r#"{USER} + "global";q=4;w=3600"#);
    for (user, spoken, states) in [
        ("a", "2 1 660", r#""user";r=1;t=45 + "global";r=3;t=2985"#),
        ("a", "2 0 660", r#""user";r=0;t=45 + "global";r=2;t=2985"#),
        // As much is left of both: the inner one has spoken, and is not talked over.
        ("b", "2 1 660", r#""user";r=1;t=45 + "global";r=1;t=2985"#),
        ("c", "4 0 3600", r#""user";r=1;t=45 + "global";r=0;t=2985"#),
    ] {
        let limits = format!("{spoken} | {policies} | {states}");
        assert_eq!(server.get_as(user).await.all(), (200, "-".into(), limits));
    }
}

async fn a_refusal_of_the_outer_layer_is_never_seen_by_the_inner_one<St: TestStore>() {
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

async fn a_refusal_of_the_inner_layer_leaves_the_outer_charge<St: TestStore>() {
    let (store, _) = St::fresh();
    let server = serve(&store, 100, 2).await;
    for _ in 0..2 {
        assert_eq!(server.get_as("a").await.status, 200);
    }
    for global in [97, 96, 95] {
        let states = format!(r#""user";r=0;t=45 + "global";r={global};t=2985"#);
        let limits = format!(r#"2 0 660 | {USER} + "global";q=100;w=3600 | {states}"#);
        assert_eq!(server.get_as("a").await.all(), (429, "45".into(), limits));
    }
}

/// The inner one has more left than the outer one, and not enough.
async fn what_an_inner_layer_refuses_it_speaks_for<St: TestStore>() {
    let (store, _) = St::fresh();
    let inner =
        RateLimitLayer::fixed_window("bytes", Quota::per_minute(1000), Global, store.clone()).cost(|_: &Request| 600);
    let outer = RateLimitLayer::fixed_window("global", Quota::per_hour(9), Global, store);
    let app = Router::new().route("/", get(async || "done")).layer(inner).layer(outer);
    let server = Server::start(app).await;
    let policies = r#""bytes";q=1000;w=60 + "global";q=9;w=3600"#;
    let limits = format!(r#"9 8 3600 | {policies} | "bytes";r=400;t=45 + "global";r=8;t=2985"#);
    assert_eq!(server.get("/").await.all(), (200, "-".into(), limits));
    let limits = format!(r#"1000 400 660 | {policies} | "bytes";r=400;t=45 + "global";r=7;t=2985"#);
    assert_eq!(server.get("/").await.all(), (429, "45".into(), limits));
}

async fn layers_of_other_header_names_speak_for_themselves<St: TestStore>() {
    let (store, _) = St::fresh();
    let names = ["x-outer-limit", "x-outer-left", "x-outer-reset"];
    let answers = HttpAnswers::new().header_names(names).without_ietf_headers();
    let inner = RateLimitLayer::fixed_window("user", Quota::per_minute(2), Header::new("x-user-id"), store.clone());
    let outer = RateLimitLayer::fixed_window("global", Quota::per_hour(9), Global, store).respond_with(answers);
    let app = Router::new().route("/", get(async || "done")).layer(inner).layer(outer);
    let server = Server::start(app).await;
    let reply = server.get_as("a").await;
    assert_eq!(reply.limits(), format!(r#"2 1 660 | {USER} | "user";r=1;t=45"#));
    assert_eq!(names.map(|name| reply.header(name)), ["9", "8", "3600"]);
}
