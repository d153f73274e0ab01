//! What requests cost: by a closure, by their length, tier by tier, and more than a limit ever holds.

use axum::{Router, routing::any};
use reqwest::Body;
use serde_json::json;
use tollgate::{
    Algorithm, ContentLength, FixedWindow, Global, Header, HttpAnswers, Key, LeakyBucket, Limit, ManualClock,
    MemoryStore, Quota, RateLimitLayer, Rule, TokenBucket,
};

use support::{
    held::SECOND,
    redis::{RedisServer, keys},
    rules::each_algorithm,
};

use crate::over_http::{
    fixture::{NOW, Reply, Server, TestStore, on_both_stores, yielding},
    handlers::{Chunks, asked, number, obliging},
    queue::one_a_second,
};

on_both_stores![
    a_closure_says_what_a_request_costs,
    a_cost_of_nothing_does_not_begin_a_window,
    a_length_is_a_cost,
    a_cost_is_about_the_tier_before_it,
    the_last_cost_that_says_something_counts,
    what_never_fits_is_promised_no_time,
    what_never_fits_has_problem_details,
    a_capacity_is_what_must_fit,
    no_cost_is_more_than_the_largest_limit_holds,
    a_refused_expensive_request_leaves_the_other_tiers_as_they_were,
    a_queue_holds_the_next_for_as_long_as_an_expensive_one_takes,
];

const TEN: Quota = Quota::per_minute(10);

/// More than ten, and some of it more than a limit can count.
const TOO_MUCH: [u64; 5] = [11, 1000, u32::MAX as u64, 1 << 32, u64::MAX];

const NEVER: &str =
    r#"{"error":"rate_limit_exceeded","message":"This request asks for more than its limit ever allows."}"#;

async fn get(server: &Server, cost: impl Into<Option<u64>>) -> Reply {
    let request = server.request("/");
    Reply::to(match cost.into() {
        Some(cost) => request.header("x-cost", cost),
        None => request,
    })
    .await
}

/// The status, and what is left.
fn brief(reply: &Reply) -> (u16, String) {
    (reply.status, reply.remaining())
}

async fn serve<St: TestStore>(rule: Rule) -> (Server, St, ManualClock) {
    let (store, clock) = St::fresh();
    let layer = RateLimitLayer::new("api", rule, Global, store.clone()).cost(asked);
    (Server::start(obliging().layer(layer)).await, store, clock)
}

async fn a_closure_says_what_a_request_costs<St: TestStore>() {
    for rule in each_algorithm(TEN).into_iter().filter(|rule| !rule.queues()) {
        let (server, ..) = serve::<St>(rule).await;
        for (cost, status, left) in [
            // What is not said costs 1.
            (None, 200, "9"),
            (Some(3), 200, "6"),
            (Some(0), 200, "6"),
            (Some(1), 200, "5"),
            (Some(6), 429, "5"),
            (Some(5), 200, "0"),
            (Some(1), 429, "0"),
            (None, 429, "0"),
            // What costs nothing passes, and is told that nothing is left.
            (Some(0), 200, "0"),
        ] {
            let reply = get(&server, cost).await;
            assert_eq!(brief(&reply), (status, left.into()), "{cost:?} of {rule:?}");
        }
    }
}

async fn a_cost_of_nothing_does_not_begin_a_window<St: TestStore>() {
    let (server, _, clock) = serve::<St>(FixedWindow::new(TEN).anchored().rule()).await;
    let limits = |left, reset, more_in| format!(r#"10 {left} {reset} | "api";q=10;w=60 | "api";r={left};t={more_in}"#);
    assert_eq!(get(&server, 0).await.all(), (200, "-".into(), limits(10, 616, 0)));
    clock.advance(10 * SECOND);
    assert_eq!(get(&server, 1).await.all(), (200, "-".into(), limits(9, 686, 60)));
    clock.advance(10 * SECOND);
    assert_eq!(get(&server, 0).await.all(), (200, "-".into(), limits(9, 686, 50)));
}

#[tokio::test]
async fn what_costs_nothing_leaves_nothing_in_memory() {
    let (store, _) = MemoryStore::fresh();
    for rule in each_algorithm(TEN) {
        let layer = RateLimitLayer::new("api", rule, Global, store.clone()).cost(asked);
        let server = Server::start(obliging().layer(layer)).await;
        assert_eq!(brief(&get(&server, 0).await), (200, "10".into()), "{rule:?}");
        assert!(store.is_empty(), "{rule:?}");
    }
}

#[tokio::test]
async fn what_costs_nothing_leaves_nothing_in_redis() {
    let redis = RedisServer::start();
    let store = redis.store().clock(ManualClock::at(NOW)).build().unwrap();
    for rule in each_algorithm(TEN) {
        let layer = RateLimitLayer::new("api", rule, Global, store.clone()).cost(asked);
        let server = Server::start(obliging().layer(layer)).await;
        assert_eq!(brief(&get(&server, 0).await), (200, "10".into()), "{rule:?}");
        assert_eq!(keys(&mut redis.client()), [""; 0], "{rule:?}");
    }
}

async fn a_length_is_a_cost<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer =
        RateLimitLayer::fixed_window("bytes", Quota::per_minute(1000), Global, store).cost(ContentLength::or(100));
    let app = Router::new().route("/", any(async |body: String| body)).layer(layer);
    let server = Server::start(app).await;
    let chunks: [&[&str]; 3] = [&["hello"], &["hel", "lo"], &[]];
    let chunks = chunks.map(|chunks| (Body::wrap(Chunks::of(chunks)), chunks.concat()));
    let [one, two, none] = chunks;
    for ((body, echo), left) in [
        (("hello".into(), "hello".to_owned()), "995"),
        // What comes in chunks does not say how long it will be.
        (one, "895"),
        (two, "795"),
        (none, "695"),
        (("x".repeat(695).into(), "x".repeat(695)), "0"),
    ] {
        let reply = Reply::to(server.post("/").body(body)).await;
        assert_eq!((brief(&reply), reply.body), ((200, left.into()), echo));
    }
    assert_eq!(Reply::to(server.post("/").body("x")).await.status, 429);
    // No bytes cost nothing.
    for request in [server.post("/").header("content-length", 0), server.request("/")] {
        assert_eq!(Reply::to(request).await.status, 200);
    }
    let reply = Reply::to(server.post("/").body("x".repeat(1001))).await;
    assert_eq!((reply.status, reply.body.as_str()), (429, NEVER));
}

async fn a_cost_is_about_the_tier_before_it<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("requests", TEN, Global, store)
        .tier("units", FixedWindow::new(Quota::per_minute(100)), Global)
        .cost(asked)
        .tier("bytes", FixedWindow::new(Quota::per_minute(1000)), Global)
        .cost(ContentLength::or(500));
    let server = Server::start(obliging().layer(layer)).await;
    let policies = r#""requests";q=10;w=60, "units";q=100;w=60, "bytes";q=1000;w=60"#;
    for (cost, body, [requests, units, bytes]) in [
        (20, "hello", [9, 80, 995]),
        (0, "hello", [8, 80, 990]),
        (30, "!", [7, 50, 989]),
    ] {
        let reply = Reply::to(server.post("/").header("x-cost", cost).body(body)).await;
        let states = format!(r#""requests";r={requests};t=45, "units";r={units};t=45, "bytes";r={bytes};t=45"#);
        assert_eq!(reply.limits(), format!("10 {requests} 660 | {policies} | {states}"));
    }
}

async fn the_last_cost_that_says_something_counts<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, store)
        .cost(asked)
        .cost(|request: &axum::extract::Request| number(request.headers(), "x-other-cost"));
    let server = Server::start(obliging().layer(layer)).await;
    for (headers, left) in [
        (&[][..], "99"),
        (&[("x-cost", "10")], "89"),
        (&[("x-other-cost", "20")], "69"),
        (&[("x-cost", "10"), ("x-other-cost", "30")], "39"),
        (&[("x-cost", "10"), ("x-other-cost", "0")], "39"),
    ] {
        let request = headers.iter().fold(server.request("/"), |request, (name, value)| {
            request.header(*name, *value)
        });
        assert_eq!(brief(&Reply::to(request).await), (200, left.into()), "{headers:?}");
    }
}

async fn what_never_fits_is_promised_no_time<St: TestStore>() {
    for rule in each_algorithm(TEN) {
        let (server, ..) = serve::<St>(rule).await;
        assert_eq!(brief(&get(&server, 4).await), (200, "6".into()), "{rule:?}");
        let before = get(&server, 0).await.limits();
        for cost in TOO_MUCH {
            let reply = get(&server, cost).await;
            assert_eq!(reply.all(), (429, "-".into(), before.clone()), "{cost} of {rule:?}");
            assert_eq!(reply.header("content-type"), "application/json");
            assert_eq!(reply.body, NEVER);
        }
        assert_eq!(get(&server, 0).await.limits(), before, "{rule:?}");
    }
}

async fn what_never_fits_has_problem_details<St: TestStore>() {
    let problem = json!({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "This request asks for more than its limit ever allows.",
        "violated-policies": ["api"],
    });
    for rule in each_algorithm(TEN) {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::new("api", rule, Global, store)
            .cost(asked)
            .respond_with(HttpAnswers::new().problem_details());
        let server = Server::start(obliging().layer(layer)).await;
        for cost in TOO_MUCH {
            let reply = get(&server, cost).await;
            assert_eq!(
                (reply.status, reply.header("retry-after").as_str()),
                (429, "-"),
                "{rule:?}"
            );
            assert_eq!(reply.header("content-type"), "application/problem+json");
            assert_eq!(reply.json(), problem, "{cost} of {rule:?}");
        }
    }
}

async fn a_capacity_is_what_must_fit<St: TestStore>() {
    for rule in [
        TokenBucket::new(TEN).capacity(20).rule(),
        LeakyBucket::new(TEN).capacity(20).rule(),
        LeakyBucket::new(TEN).capacity(20).policing().rule(),
    ] {
        let (server, ..) = serve::<St>(rule).await;
        assert_eq!(get(&server, 21).await.body, NEVER, "{rule:?}");
        assert_eq!(brief(&get(&server, 20).await), (200, "0".into()), "{rule:?}");
        // It fits, but not now.
        assert_eq!(get(&server, 20).await.header("retry-after"), "120", "{rule:?}");
    }
}

async fn no_cost_is_more_than_the_largest_limit_holds<St: TestStore>() {
    for cost in [u64::from(u32::MAX), 1 << 32, u64::MAX] {
        let (server, ..) = serve::<St>(FixedWindow::new(Quota::per_minute(u32::MAX)).rule()).await;
        assert_eq!(brief(&get(&server, cost).await), (200, "0".into()), "{cost}");
        assert_eq!(brief(&get(&server, 1).await), (429, "0".into()), "{cost}");
    }
}

async fn a_refused_expensive_request_leaves_the_other_tiers_as_they_were<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("count", Quota::per_minute(100), Global, store.clone())
        .tier("units", TokenBucket::new(TEN), Header::new("x-user-id"))
        .cost(asked)
        .tier("total", TokenBucket::new(Quota::per_minute(1000)), Global)
        .cost(asked);
    let server = Server::start(obliging().layer(layer)).await;
    let get = async |cost: u64| {
        let request = server.request("/").header("x-user-id", "a");
        Reply::to(request.header("x-cost", cost)).await
    };
    let count = Limit::new("count", FixedWindow::new(Quota::per_minute(100)));
    let total = Limit::new("total", TokenBucket::new(Quota::per_minute(1000)));
    let left = async || {
        (
            store.left(&count, &Key::GLOBAL).await,
            store.left(&total, &Key::GLOBAL).await,
        )
    };
    assert_eq!(brief(&get(7).await), (200, "3".into()));
    assert_eq!(left().await, (99, 993));
    for (cost, wait) in [(4, "6"), (10, "42"), (11, "-"), (u64::MAX, "-")] {
        let reply = get(cost).await;
        assert_eq!(
            (reply.status, reply.header("retry-after").as_str()),
            (429, wait),
            "{cost}"
        );
        assert_eq!(left().await, (99, 993), "{cost}");
    }
    assert_eq!(brief(&get(3).await), (200, "0".into()));
    assert_eq!(left().await, (98, 990));
}

async fn a_queue_holds_the_next_for_as_long_as_an_expensive_one_takes<St: TestStore>() {
    let (server, store, clock) = serve::<St>(one_a_second().rule()).await;
    assert_eq!(brief(&get(&server, 3).await), (200, "7".into()));
    let held = tokio::spawn(Reply::to(server.request("/").header("x-cost", 7)));
    yielding(async || clock.waiting() == 1).await;
    assert_eq!(store.left(&Limit::new("api", one_a_second()), &Key::GLOBAL).await, 0);
    // What costs nothing is never held.
    assert_eq!(brief(&get(&server, 0).await), (200, "0".into()));
    clock.set(NOW + 2_999_999);
    assert_eq!(clock.waiting(), 1);
    clock.set(NOW + 3_000_000);
    assert_eq!(brief(&held.await.unwrap()), (200, "0".into()));
}
