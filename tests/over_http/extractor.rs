//! The decision as handlers receive it: as an argument and in the request's extensions.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use axum::{Router, extract::Request, routing::get};
use tollgate::{Decision, DecisionExtension, Global, Key, KeyExtractor, Quota, RateLimitLayer, Tier};

use crate::over_http::fixture::{NOTHING, NOW, Reply, Server, TestStore, on_both_stores};

on_both_stores![
    a_request_without_a_key_is_rejected_unless_the_key_is_optional,
    a_handler_receives_the_decision,
    stacked_layers_report_all_tiers_the_outer_first,
    an_exempt_request_has_a_decision_without_tiers_and_no_headers,
    a_tier_without_a_key_does_not_affect_the_others,
    a_denied_request_never_reaches_the_handler,
];

/// Names, what remains, and the time.
fn show(decision: &Decision) -> String {
    let tiers = decision.tiers().iter();
    let tiers: Vec<_> = tiers
        .map(|tier| format!("{}:{}", tier.limit().name(), tier.verdict().remaining()))
        .collect();
    format!("{} {} {}", tiers.join(","), decision.admits(), decision.now())
}

/// Responds with the decision from an argument, from an optional argument, and from the extensions.
fn app() -> Router {
    Router::new()
        .route("/argument", get(async |decision: Decision| show(&decision)))
        .route(
            "/option",
            get(async |decision: Option<Decision>| decision.as_ref().map_or("none".into(), show)),
        )
        .route(
            "/extension",
            get(async |request: Request| {
                let decision = request.extensions().get::<DecisionExtension>();
                decision.map_or("none".into(), |decision| show(decision))
            }),
        )
}

const PATHS: [&str; 3] = ["/argument", "/option", "/extension"];

async fn a_handler_receives_the_decision<St: TestStore>() {
    let (store, clock) = St::fresh();
    let layer = RateLimitLayer::fixed_window("wide", Quota::per_minute(9), Global, store)
        .tier(Tier::token_bucket("narrow", Quota::per_second(3), Global))
        .tier(Tier::sliding_log("secret", Quota::per_minute(5), Global).hidden());
    let server = Server::start(app().layer(layer)).await;
    for (path, [wide, narrow, secret]) in PATHS.into_iter().zip([[8, 2, 4], [7, 1, 3], [6, 0, 2]]) {
        let expected = format!("wide:{wide},narrow:{narrow},secret:{secret} true {NOW}");
        assert_eq!(server.get(path).await.body, expected, "{path}");
    }
    clock.set(NOW + 1_000_000);
    let expected = "wide:5,narrow:2,secret:1 true 616250000";
    assert_eq!(server.get("/argument").await.body, expected);
}

async fn stacked_layers_report_all_tiers_the_outer_first<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = |name| RateLimitLayer::fixed_window(name, Quota::per_minute(9), Global, store.clone());
    let inner = layer("inner").tier(Tier::fixed_window("inner-2", Quota::per_minute(8), Global));
    let outer = layer("outer").tier(Tier::fixed_window("outer-2", Quota::per_minute(7), Global));
    let server = Server::start(app().layer(inner).layer(layer("middle")).layer(outer)).await;
    for (path, used) in PATHS.into_iter().zip(1..) {
        let (nine, eight, seven) = (9 - used, 8 - used, 7 - used);
        let tiers = format!("outer:{nine},outer-2:{seven},middle:{nine},inner:{nine},inner-2:{eight}");
        assert_eq!(server.get(path).await.body, format!("{tiers} true {NOW}"), "{path}");
    }
}

async fn an_exempt_request_has_a_decision_without_tiers_and_no_headers<St: TestStore>() {
    let (store, _) = St::fresh();
    let no_key = |_: &Request| None::<Key>;
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), no_key.optional(), store);
    let server = Server::start(app().layer(layer)).await;
    for path in PATHS {
        let reply = server.get(path).await;
        assert_eq!(reply.all(), (200, "-".into(), NOTHING.into()), "{path}");
        assert_eq!(reply.body, format!(" true {NOW}"), "{path}");
    }
}

/// A key function that returns `None` is no free pass.
async fn a_request_without_a_key_is_rejected_unless_the_key_is_optional<St: TestStore>() {
    fn tenant(request: &Request) -> Option<Key> {
        Some(Key::named("tenant", request.headers().get("x-tenant")?.to_str().ok()?))
    }
    let (store, _) = St::fresh();
    let (hello, two) = (|| get(async || "hello"), Quota::per_minute(2));
    let required = RateLimitLayer::fixed_window("required", two, tenant, store.clone());
    let default = RateLimitLayer::fixed_window("default", two, tenant.or("anonymous"), store.clone());
    let optional = RateLimitLayer::fixed_window("optional", two, tenant.optional(), store);
    let app = Router::new()
        .route("/required", hello().layer(required))
        .route("/default", hello().layer(default))
        .route("/optional", hello().layer(optional));
    let server = Server::start(app).await;
    let reply = server.get("/required").await;
    assert_eq!(reply.all(), (400, "-".into(), NOTHING.into()));
    let body = r#"{"error":"rate_limit_key_missing","message":"the request lacks the key that it is counted by"}"#;
    assert_eq!(reply.body, body);
    for status in [200, 200, 429] {
        assert_eq!(server.get("/default").await.status, status);
    }
    for _ in 0..5 {
        assert_eq!(server.get("/optional").await.all(), (200, "-".into(), NOTHING.into()));
    }
    for status in [200, 200, 429] {
        for path in ["/required", "/default", "/optional"] {
            let reply = Reply::to(server.request(path).header("x-tenant", "acme")).await;
            assert_eq!(reply.status, status, "{path}");
        }
    }
}

async fn a_tier_without_a_key_does_not_affect_the_others<St: TestStore>() {
    let (store, _) = St::fresh();
    let anonymous = |request: &Request| (!request.headers().contains_key("x-user-id")).then_some(Key::GLOBAL);
    let layer = RateLimitLayer::fixed_window("anonymous", Quota::per_minute(1), anonymous.optional(), store)
        .tier(Tier::fixed_window("all", Quota::per_minute(5), Global));
    let app = Router::new().route("/", get(async |decision: Decision| show(&decision)));
    let server = Server::start(app.layer(layer)).await;
    assert_eq!(server.get("/").await.body, format!("anonymous:0,all:4 true {NOW}"));
    for left in [3, 2] {
        let reply = server.get_as("a").await;
        assert_eq!(reply.body, format!("all:{left} true {NOW}"));
        let limits = format!(r#"5 {left} 660 | "all";q=5;w=60 | "all";r={left};t=45"#);
        assert_eq!(reply.limits(), limits);
    }
    assert_eq!(server.get("/").await.status, 429);
}

async fn a_denied_request_never_reaches_the_handler<St: TestStore>() {
    let (store, _) = St::fresh();
    let count = Arc::new(AtomicU32::new(0));
    let handler = {
        let count = count.clone();
        async move || count.fetch_add(1, Ordering::Relaxed).to_string()
    };
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(2), Global, store);
    let server = Server::start(Router::new().route("/", get(handler)).layer(layer)).await;
    for (status, seen) in [(200, 1), (200, 2), (429, 2), (429, 2)] {
        assert_eq!(server.get("/").await.status, status);
        assert_eq!(count.load(Ordering::Relaxed), seen);
    }
}

#[tokio::test]
async fn without_a_layer_there_is_no_decision() {
    let server = Server::start(app()).await;
    let reply = server.get("/argument").await;
    let message = "there is no Decision in the request's extensions: put a RateLimitLayer with HttpResponder, the default, \
                around this handler";
    assert_eq!((reply.status, reply.body.as_str()), (500, message));
    for path in ["/option", "/extension"] {
        let reply = server.get(path).await;
        assert_eq!((reply.status, reply.body.as_str()), (200, "none"), "{path}");
    }
}
