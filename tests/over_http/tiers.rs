//! Several tiers of one layer: charged together, and the most restrictive one is reported.

use axum::{Router, http::Method, routing::get};
use tollgate::{FixedWindow, Global, Header, HttpMethod, Key, KeyExtractor, Limit, Quota, RateLimitLayer, Tier};

use crate::over_http::fixture::{NOTHING, Reply, Server, TestStore, on_both_stores};

on_both_stores![
    a_denial_by_one_tier_does_not_charge_the_others,
    an_admission_reports_the_least_remaining,
    a_denial_reports_the_longest_wait,
    a_hidden_tier_denies_and_is_not_reported,
    a_layer_of_hidden_tiers_adds_no_headers,
    a_tier_applies_only_to_requests_with_its_key,
];

const GLOBAL: Quota = Quota::per_minute(10_000);
const USER: Quota = Quota::per_minute(100);
const EXPENSIVE: Quota = Quota::per_minute(10);

async fn a_denial_by_one_tier_does_not_charge_the_others<St: TestStore>() {
    let (store, clock) = St::fresh();
    let user = Header::new("x-user-id");
    let layer = RateLimitLayer::fixed_window("global", GLOBAL, Global, store.clone())
        .tier(Tier::fixed_window("user", USER, user.clone()))
        .tier(Tier::fixed_window("expensive", EXPENSIVE, user));
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    let policies = r#""global";q=10000;w=60, "user";q=100;w=60, "expensive";q=10;w=60"#;
    let limits = |global: u32, user: u32, expensive: u32| {
        let state = format!(r#""global";r={global};t=45, "user";r={user};t=45, "expensive";r={expensive};t=45"#);
        format!("10 {expensive} 660 | {policies} | {state}")
    };

    for n in 1..=10 {
        let reply = server.get_as("alice").await;
        assert_eq!(reply.all(), (200, "-".into(), limits(10_000 - n, 100 - n, 10 - n)));
    }
    for _ in 0..5 {
        let reply = server.get_as("alice").await;
        let limits = format!(r#"10 0 660 | {policies} | "expensive";r=0;t=45"#);
        assert_eq!(reply.all(), (429, "45".into(), limits));
    }
    // Another user has a separate limit, and shares the global one.
    assert_eq!(server.get_as("bob").await.all(), (200, "-".into(), limits(9989, 99, 9)));
    let limit = Limit::new("user", FixedWindow::new(USER));
    assert_eq!(store.left(&limit, &Key::new("x-user-id:alice")).await, 90);

    clock.set(660_000_000);
    let reply = server.get_as("alice").await;
    assert_eq!((reply.status, reply.remaining().as_str()), (200, "9"));
}

async fn an_admission_reports_the_least_remaining<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("wide", Quota::per_minute(4), Global, store)
        .tier(Tier::sliding_log(
            "narrow",
            Quota::per_minute(2),
            Header::new("x-user-id"),
        ))
        .tier(Tier::token_bucket(
            "middle",
            Quota::per_minute(3),
            Header::new("x-user-id"),
        ));
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    let policies = r#""wide";q=4;w=60, "narrow";q=2;w=60, "middle";q=3;w=60"#;
    let limits_of = async |user: &str| server.get_as(user).await.limits();
    let states = r#""wide";r=3;t=45, "narrow";r=1;t=30, "middle";r=2;t=40"#;
    assert_eq!(limits_of("a").await, format!("2 1 676 | {policies} | {states}"));
    let states = r#""wide";r=2;t=45, "narrow";r=1;t=30, "middle";r=2;t=40"#;
    assert_eq!(limits_of("b").await, format!("2 1 676 | {policies} | {states}"));
    let states = r#""wide";r=1;t=45, "narrow";r=0;t=60, "middle";r=1;t=20"#;
    assert_eq!(limits_of("b").await, format!("2 0 676 | {policies} | {states}"));
    // The shared tier has the least remaining now.
    let states = r#""wide";r=0;t=45, "narrow";r=1;t=30, "middle";r=2;t=40"#;
    assert_eq!(limits_of("c").await, format!("4 0 660 | {policies} | {states}"));
}

async fn a_denial_reports_the_longest_wait<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::token_bucket("second", Quota::per_second(1), Global, store)
        .tier(Tier::fixed_window("hour", Quota::per_hour(1), Global))
        .tier(Tier::fixed_window("minute", Quota::per_minute(1), Global))
        .tier(Tier::fixed_window("ample", Quota::per_day(2), Global));
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    assert_eq!(server.get("/").await.status, 200);
    // The day is charged too, but it does not deny.
    let policies = r#""second";q=1;w=1, "hour";q=1;w=3600, "minute";q=1;w=60, "ample";q=2;w=86400"#;
    let states = r#""second";r=0;t=1, "hour";r=0;t=2985, "minute";r=0;t=45"#;
    let reply = server.get("/").await;
    assert_eq!(
        reply.all(),
        (429, "2985".into(), format!("1 0 3600 | {policies} | {states}"))
    );
    assert_eq!(reply.json()["retry_after"], 2985);
}

async fn a_hidden_tier_denies_and_is_not_reported<St: TestStore>() {
    let (store, clock) = St::fresh();
    let layer = RateLimitLayer::new(Tier::fixed_window("global", Quota::per_hour(2), Global).hidden(), store).tier(
        Tier::fixed_window("user", Quota::per_minute(5), Header::new("x-user-id")),
    );
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    let limits = |left: u32, reset: u32, more_in: u32| {
        format!(r#"5 {left} {reset} | "user";q=5;w=60 | "user";r={left};t={more_in}"#)
    };
    for left in [4, 3] {
        assert_eq!(server.get_as("a").await.all(), (200, "-".into(), limits(left, 660, 45)));
    }
    // The user's tier reports what remains of it, and when it is fresh; the wait is that of the global tier.
    let reply = server.get_as("a").await;
    let denied = |left: u32, reset: u32| format!(r#"5 {left} {reset} | "user";q=5;w=60 | -"#);
    assert_eq!(reply.all(), (429, "2985".into(), denied(3, 660)));
    assert_eq!(reply.json()["retry_after"], 2985);
    clock.set(3_599_999_999);
    assert_eq!(server.get_as("a").await.all(), (429, "1".into(), denied(5, 3600)));
    clock.set(3_600_000_000);
    assert_eq!(server.get_as("a").await.all(), (200, "-".into(), limits(4, 3660, 60)));
}

async fn a_layer_of_hidden_tiers_adds_no_headers<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("global", Quota::per_minute(1), Global).hidden(),
        store,
    );
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    assert_eq!(server.get("/").await.all(), (200, "-".into(), NOTHING.into()));
    assert_eq!(server.get("/").await.all(), (429, "45".into(), NOTHING.into()));
}

async fn a_tier_applies_only_to_requests_with_its_key<St: TestStore>() {
    let (store, _) = St::fresh();
    let writes = |request: &axum::extract::Request| (request.method() == Method::POST).then_some(Key::GLOBAL);
    let per_method = (Header::new("x-user-id"), HttpMethod);
    let layer = RateLimitLayer::fixed_window("writes", Quota::per_minute(1), writes.optional(), store)
        .tier(Tier::fixed_window("user", Quota::per_minute(2), per_method));
    let server = Server::start(
        Router::new()
            .route("/", get(async || "read").post(async || "written"))
            .layer(layer),
    )
    .await;
    let post = async || Reply::to(server.post("/").header("x-user-id", "a")).await;
    let read = |left: u32| format!(r#"2 {left} 660 | "user";q=2;w=60 | "user";r={left};t=45"#);
    assert_eq!(server.get_as("a").await.all(), (200, "-".into(), read(1)));
    let policies = r#""writes";q=1;w=60, "user";q=2;w=60"#;
    let wrote = |status, wait: &str, states| (status, wait.to_owned(), format!("1 0 660 | {policies} | {states}"));
    let [writes, user] = [r#""writes";r=0;t=45"#, r#""user";r=1;t=45"#];
    assert_eq!(post().await.all(), wrote(200, "-", format!("{writes}, {user}")));
    assert_eq!(post().await.all(), wrote(429, "45", writes.to_owned()));
    assert_eq!(server.get_as("a").await.all(), (200, "-".into(), read(0)));
    assert_eq!(server.get_as("a").await.all(), (429, "45".into(), read(0)));
}
