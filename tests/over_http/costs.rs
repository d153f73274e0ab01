//! Request costs: by closure, by length, per tier, and above what a limit holds.

use axum::{Router, routing::any};
use reqwest::Body;
use serde_json::json;
use tollgate::{
    Algorithm, AnyAlgorithm, ContentLength, FixedWindow, Global, Header, HttpResponder, Key, LeakyBucket, Limit,
    ManualClock, MemoryStore, Quota, RateLimitLayer, Tier, TokenBucket,
};

use support::{
    algorithms::each_algorithm,
    queued_server::SECOND,
    redis::{RedisServer, keys},
};

use crate::over_http::{
    fixture::{
        Chunks, NOW, Reply, Server, TestStore, number, on_both_stores, requested_cost, scripted_app, yield_until,
    },
    queue::one_a_second,
};

on_both_stores![
    a_closure_returns_the_cost,
    a_cost_of_zero_does_not_start_a_window,
    the_content_length_is_the_cost,
    a_cost_applies_to_the_tier_before_it,
    the_last_cost_that_is_some_counts,
    an_impossible_cost_has_no_retry_after,
    an_impossible_cost_has_problem_details,
    a_cost_above_the_capacity_is_impossible,
    costs_are_capped_at_the_largest_limit,
    a_denied_expensive_request_charges_no_tier,
    a_queue_delays_the_next_request_by_the_cost_of_the_last,
];

const TEN: Quota = Quota::per_minute(10);

/// Costs above ten, some of them above the largest limit.
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

/// The status, and what remains.
fn brief(reply: &Reply) -> (u16, String) {
    (reply.status, reply.remaining())
}

async fn serve<St: TestStore>(algorithm: AnyAlgorithm) -> (Server, St, ManualClock) {
    let (store, clock) = St::fresh();
    let layer = RateLimitLayer::new(Tier::new("api", algorithm, Global).cost(requested_cost), store.clone());
    (Server::start(scripted_app().layer(layer)).await, store, clock)
}

async fn a_closure_returns_the_cost<St: TestStore>() {
    for algorithm in each_algorithm(TEN)
        .into_iter()
        .filter(|algorithm| !algorithm.is_queueing())
    {
        let (server, ..) = serve::<St>(algorithm).await;
        for (cost, status, left) in [
            // The default cost is 1.
            (None, 200, "9"),
            (Some(3), 200, "6"),
            (Some(0), 200, "6"),
            (Some(1), 200, "5"),
            (Some(6), 429, "5"),
            (Some(5), 200, "0"),
            (Some(1), 429, "0"),
            (None, 429, "0"),
            // A request that costs zero passes, and reports that nothing remains.
            (Some(0), 200, "0"),
        ] {
            let reply = get(&server, cost).await;
            assert_eq!(brief(&reply), (status, left.into()), "{cost:?} of {algorithm:?}");
        }
    }
}

async fn a_cost_of_zero_does_not_start_a_window<St: TestStore>() {
    let (server, _, clock) = serve::<St>(FixedWindow::new(TEN).anchored().to_any()).await;
    let limits = |left, reset, more_in| format!(r#"10 {left} {reset} | "api";q=10;w=60 | "api";r={left};t={more_in}"#);
    assert_eq!(get(&server, 0).await.all(), (200, "-".into(), limits(10, 616, 60)));
    clock.advance(10 * SECOND);
    assert_eq!(get(&server, 1).await.all(), (200, "-".into(), limits(9, 686, 60)));
    clock.advance(10 * SECOND);
    assert_eq!(get(&server, 0).await.all(), (200, "-".into(), limits(9, 686, 50)));
}

#[tokio::test]
async fn a_cost_of_zero_adds_no_key_in_memory() {
    let (store, _) = MemoryStore::fresh();
    for algorithm in each_algorithm(TEN) {
        let layer = RateLimitLayer::new(Tier::new("api", algorithm, Global).cost(requested_cost), store.clone());
        let server = Server::start(scripted_app().layer(layer)).await;
        assert_eq!(brief(&get(&server, 0).await), (200, "10".into()), "{algorithm:?}");
        assert!(store.is_empty(), "{algorithm:?}");
    }
}

#[tokio::test]
async fn a_cost_of_zero_adds_no_key_in_redis() {
    let redis = RedisServer::start();
    let store = redis.store().clock(ManualClock::at(NOW)).build().unwrap();
    for algorithm in each_algorithm(TEN) {
        let layer = RateLimitLayer::new(Tier::new("api", algorithm, Global).cost(requested_cost), store.clone());
        let server = Server::start(scripted_app().layer(layer)).await;
        assert_eq!(brief(&get(&server, 0).await), (200, "10".into()), "{algorithm:?}");
        assert_eq!(keys(&mut redis.client()), [""; 0], "{algorithm:?}");
    }
}

async fn the_content_length_is_the_cost<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("bytes", Quota::per_minute(1000), Global).cost(ContentLength::or(100)),
        store,
    );
    let app = Router::new().route("/", any(async |body: String| body)).layer(layer);
    let server = Server::start(app).await;
    let chunks: [&[&str]; 3] = [&["hello"], &["hel", "lo"], &[]];
    let chunks = chunks.map(|chunks| (Body::wrap(Chunks::of(chunks)), chunks.concat()));
    let [one, two, none] = chunks;
    for ((body, echo), left) in [
        (("hello".into(), "hello".to_owned()), "995"),
        // The length of a chunked body is not known in advance.
        (one, "895"),
        (two, "795"),
        (none, "695"),
        (("x".repeat(695).into(), "x".repeat(695)), "0"),
    ] {
        let reply = Reply::to(server.post("/").body(body)).await;
        assert_eq!((brief(&reply), reply.body), ((200, left.into()), echo));
    }
    assert_eq!(Reply::to(server.post("/").body("x")).await.status, 429);
    // Zero bytes cost zero.
    for request in [server.post("/").header("content-length", 0), server.request("/")] {
        assert_eq!(Reply::to(request).await.status, 200);
    }
    let reply = Reply::to(server.post("/").body("x".repeat(1001))).await;
    assert_eq!((reply.status, reply.body.as_str()), (429, NEVER));
}

async fn a_cost_applies_to_the_tier_before_it<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("requests", TEN, Global, store)
        .tier(Tier::fixed_window("units", Quota::per_minute(100), Global).cost(requested_cost))
        .tier(Tier::fixed_window("bytes", Quota::per_minute(1000), Global).cost(ContentLength::or(500)));
    let server = Server::start(scripted_app().layer(layer)).await;
    let policies = r#""requests";q=10;w=60, "units";q=100;w=60, "bytes";q=1000;qu="content-bytes";w=60"#;
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

async fn the_last_cost_that_is_some_counts<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("api", Quota::per_minute(100), Global)
            .cost(requested_cost)
            .cost(|request: &axum::extract::Request| number(request.headers(), "x-other-cost")),
        store,
    );
    let server = Server::start(scripted_app().layer(layer)).await;
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

async fn an_impossible_cost_has_no_retry_after<St: TestStore>() {
    for algorithm in each_algorithm(TEN) {
        let (server, ..) = serve::<St>(algorithm).await;
        assert_eq!(brief(&get(&server, 4).await), (200, "6".into()), "{algorithm:?}");
        let before = get(&server, 0).await.limits();
        for cost in TOO_MUCH {
            let reply = get(&server, cost).await;
            assert_eq!(
                reply.all(),
                (429, "-".into(), before.clone()),
                "{cost} of {algorithm:?}"
            );
            assert_eq!(reply.header("content-type"), "application/json");
            assert_eq!(reply.body, NEVER);
        }
        assert_eq!(get(&server, 0).await.limits(), before, "{algorithm:?}");
    }
}

async fn an_impossible_cost_has_problem_details<St: TestStore>() {
    let problem = json!({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "This request asks for more than its limit ever allows.",
        "violated-policies": ["api"],
    });
    for algorithm in each_algorithm(TEN) {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::new(Tier::new("api", algorithm, Global).cost(requested_cost), store)
            .respond_with(HttpResponder::new().problem_details());
        let server = Server::start(scripted_app().layer(layer)).await;
        for cost in TOO_MUCH {
            let reply = get(&server, cost).await;
            assert_eq!(
                (reply.status, reply.header("retry-after").as_str()),
                (429, "-"),
                "{algorithm:?}"
            );
            assert_eq!(reply.header("content-type"), "application/problem+json");
            assert_eq!(reply.json(), problem, "{cost} of {algorithm:?}");
        }
    }
}

async fn a_cost_above_the_capacity_is_impossible<St: TestStore>() {
    for algorithm in [
        TokenBucket::new(TEN).capacity(20).to_any(),
        LeakyBucket::new(TEN).capacity(20).to_any(),
        LeakyBucket::new(TEN).capacity(20).policing().to_any(),
    ] {
        let (server, ..) = serve::<St>(algorithm).await;
        assert_eq!(get(&server, 21).await.body, NEVER, "{algorithm:?}");
        assert_eq!(brief(&get(&server, 20).await), (200, "0".into()), "{algorithm:?}");
        // It fits the capacity, but not now.
        assert_eq!(get(&server, 20).await.header("retry-after"), "120", "{algorithm:?}");
    }
}

async fn costs_are_capped_at_the_largest_limit<St: TestStore>() {
    for cost in [u64::from(u32::MAX), 1 << 32, u64::MAX] {
        let (server, ..) = serve::<St>(FixedWindow::new(Quota::per_minute(u32::MAX)).to_any()).await;
        assert_eq!(brief(&get(&server, cost).await), (200, "0".into()), "{cost}");
        assert_eq!(brief(&get(&server, 1).await), (429, "0".into()), "{cost}");
    }
}

async fn a_denied_expensive_request_charges_no_tier<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("count", Quota::per_minute(100), Global, store.clone())
        .tier(Tier::token_bucket("units", TEN, Header::new("x-user-id")).cost(requested_cost))
        .tier(Tier::token_bucket("total", Quota::per_minute(1000), Global).cost(requested_cost));
    let server = Server::start(scripted_app().layer(layer)).await;
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
    for (cost, wait) in [(4, "18"), (10, "42"), (11, "-"), (u64::MAX, "-")] {
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

async fn a_queue_delays_the_next_request_by_the_cost_of_the_last<St: TestStore>() {
    let (server, store, clock) = serve::<St>(one_a_second().to_any()).await;
    assert_eq!(brief(&get(&server, 3).await), (200, "7".into()));
    let held = tokio::spawn(Reply::to(server.request("/").header("x-cost", 7)));
    yield_until(async || clock.pending_sleeps() == 1).await;
    assert_eq!(store.left(&Limit::new("api", one_a_second()), &Key::GLOBAL).await, 0);
    // A request that costs zero is never delayed.
    assert_eq!(brief(&get(&server, 0).await), (200, "0".into()));
    clock.set(NOW + 2_999_999);
    assert_eq!(clock.pending_sleeps(), 1);
    clock.set(NOW + 3_000_000);
    assert_eq!(brief(&held.await.unwrap()), (200, "0".into()));
}
