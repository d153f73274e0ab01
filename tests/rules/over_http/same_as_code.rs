//! A layer of rules responds as one with the same limits in code, header by header.

use std::time::Duration;

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::{any, get},
};
use tokio::task::JoinHandle;
use tollgate::{
    Algorithm, AnyAlgorithm, FixedWindow, Global, Header, JsonUsage, Key, LeakyBucket, Limit, ManualClock, Quota,
    RateLimitLayer, RulesLayer, SlidingCounter, SlidingLog, Tier, TokenBucket,
};

use super::fixture::{Reply, Server, TestStore, on_both_stores, rules, yield_until};

on_both_stores![
    every_algorithm_responds_as_in_code,
    a_queue_delays_as_in_code,
    tiers_respond_as_in_code,
    outcomes_settle_as_in_code,
];

fn app() -> Router {
    Router::new().route("/", get(async || "served"))
}

/// An app behind the only limit of a file.
async fn by_file<St: TestStore>(settings: &str) -> (Server, ManualClock) {
    let (store, clock) = St::fresh();
    let file = format!("[[limit]]\nname = \"api\"\nkey = \"global\"\n{settings}");
    let layer = RulesLayer::new(rules(&file), store);
    (Server::start(app().layer(layer)).await, clock)
}

async fn by_code<St: TestStore>(algorithm: AnyAlgorithm) -> (Server, ManualClock) {
    let (store, clock) = St::fresh();
    let layer = RateLimitLayer::new(Tier::new("api", algorithm, Global), store);
    (Server::start(app().layer(layer)).await, clock)
}

/// The responses to ten requests, five seconds apart.
async fn responses((server, clock): (Server, ManualClock)) -> Vec<(u16, String, String)> {
    let mut responses = Vec::new();
    for _ in 0..10 {
        responses.push(server.get("/").await.all());
        clock.advance(Duration::from_secs(5));
    }
    responses
}

async fn every_algorithm_responds_as_in_code<St: TestStore>() {
    let three = Quota::per_minute(3);
    for (settings, algorithm) in [
        ("algorithm = \"token_bucket\"", TokenBucket::new(three).to_any()),
        (
            "algorithm = \"token_bucket\"\ncapacity = 2",
            TokenBucket::new(three).capacity(2).to_any(),
        ),
        (
            "algorithm = \"leaky_bucket\"\nqueue = false",
            LeakyBucket::new(three).policing().to_any(),
        ),
        ("algorithm = \"fixed_window\"", FixedWindow::new(three).to_any()),
        (
            "algorithm = \"fixed_window\"\nanchored = true",
            FixedWindow::new(three).anchored().to_any(),
        ),
        ("algorithm = \"sliding_log\"", SlidingLog::new(three).to_any()),
        ("algorithm = \"sliding_counter\"", SlidingCounter::new(three).to_any()),
        (
            "algorithm = \"sliding_counter\"\nsub_windows = 6",
            SlidingCounter::new(three).sub_windows(6).to_any(),
        ),
    ] {
        let settings = format!("{settings}\nlimit = 3\nwindow = \"1m\"");
        let file = responses(by_file::<St>(&settings).await).await;
        assert_eq!(file, responses(by_code::<St>(algorithm).await).await, "{settings}");
        assert!(file.iter().any(|(status, ..)| *status == 429), "{settings}");
    }
}

/// The responses to three concurrent requests, of which the second has to wait for 20 seconds and the third for 40.
async fn delayed_responses((server, clock): (Server, ManualClock)) -> Vec<(u16, String, String)> {
    let mut responses = vec![server.get("/").await.all()];
    let second: JoinHandle<Reply> = tokio::spawn(server.get("/"));
    yield_until(async || clock.pending_sleeps() == 1).await;
    // The wait of the third exceeds the maximum.
    responses.push(server.get("/").await.all());
    clock.advance(Duration::from_micros(19_999_999));
    assert_eq!(clock.pending_sleeps(), 1);
    clock.advance(Duration::from_micros(1));
    responses.push(second.await.unwrap().all());
    responses
}

async fn a_queue_delays_as_in_code<St: TestStore>() {
    let three = LeakyBucket::new(Quota::per_minute(3));
    for (settings, algorithm) in [
        ("max_wait = \"20s\"", three.max_wait(Duration::from_secs(20))),
        (
            "max_wait = \"39s\"\nqueue = true",
            three.max_wait(Duration::from_secs(39)),
        ),
        ("capacity = 2", three.capacity(2)),
    ] {
        let settings = format!("algorithm = \"leaky_bucket\"\nlimit = 3\nwindow = \"1m\"\n{settings}");
        let file = delayed_responses(by_file::<St>(&settings).await).await;
        assert_eq!(
            file,
            delayed_responses(by_code::<St>(algorithm.to_any()).await).await,
            "{settings}"
        );
        let statuses: Vec<_> = file.iter().map(|(status, ..)| *status).collect();
        assert_eq!(statuses, [200, 429, 200], "{settings}");
    }
}

async fn tiers_respond_as_in_code<St: TestStore>() {
    let file = r#"
        [[limit]]
        name = "global"
        algorithm = "sliding_counter"
        limit = 100
        window = "1m"
        key = "global"

        [[limit]]
        name = "user"
        algorithm = "token_bucket"
        limit = 6
        window = "1m"
        capacity = 2
        key = ["header:x-user-id"]
        default = "anonymous"
    "#;
    let (store, _) = St::fresh();
    let code = RateLimitLayer::sliding_counter("global", Quota::per_minute(100), Global, store).tier(Tier::new(
        "user",
        TokenBucket::new(Quota::per_minute(6)).capacity(2),
        Header::new("x-user-id").or("anonymous"),
    ));
    let code = Server::start(app().layer(code)).await;
    let (store, _) = St::fresh();
    let file = Server::start(app().layer(RulesLayer::new(rules(file), store))).await;
    for user in ["a", "a", "a", "b", "", "", "", "b", "a"] {
        assert_eq!(file.get_as(user).await.all(), code.get_as(user).await.all(), "{user}");
    }
}

/// Responds with the status and the number that the request asks for.
fn outcome_app() -> Router {
    let handler = async |headers: HeaderMap| {
        let number = |name: &str| headers[name].to_str().unwrap().to_owned();
        let status: StatusCode = number("x-status").parse().unwrap();
        let used = number("x-used");
        (
            status,
            [("content-type", "application/json")],
            format!("{{\"used\":{used}}}"),
        )
    };
    Router::new().route("/", any(handler))
}

/// Server errors are refunded, and other responses settled to what they used. The queueing bucket is refunded while its queue is empty.
async fn outcomes_settle_as_in_code<St: TestStore>() {
    const QUOTA: Quota = Quota::per_minute(60);
    for (settings, algorithm) in [
        ("algorithm = \"token_bucket\"", TokenBucket::new(QUOTA).to_any()),
        (
            "algorithm = \"leaky_bucket\"\nqueue = false",
            LeakyBucket::new(QUOTA).policing().to_any(),
        ),
        (
            "algorithm = \"leaky_bucket\"\nmax_wait = \"1us\"",
            LeakyBucket::new(QUOTA).max_wait(Duration::from_micros(1)).to_any(),
        ),
        ("algorithm = \"fixed_window\"", FixedWindow::new(QUOTA).to_any()),
        ("algorithm = \"sliding_log\"", SlidingLog::new(QUOTA).to_any()),
        ("algorithm = \"sliding_counter\"", SlidingCounter::new(QUOTA).to_any()),
    ] {
        let file = format!(
            "[[limit]]\nname = \"api\"\nkey = \"global\"\n{settings}\nlimit = 60\nwindow = \"1m\"\ncost = 20\n\
             refund_status = \"5xx\"\nsettle_json = \"used\"\n"
        );
        let ((by_file, file_clock), (by_code, code_clock)) = (St::fresh(), St::fresh());
        let file = outcome_app().layer(RulesLayer::new(rules(&file), by_file.clone()));
        let tier = Tier::new("api", algorithm, Global)
            .cost(|_: &Request| 20)
            .refund_if(|response: &Response| response.status().is_server_error())
            .meter_body(JsonUsage::at(["used"]));
        let code = outcome_app().layer(RateLimitLayer::new(tier, by_code.clone()));
        let (file, code) = (Server::start(file).await, Server::start(code).await);
        let limit = Limit::new("api", algorithm);
        for (status, used, wait) in [
            (500, "5", 0),
            (200, "20", 20),
            (503, "20", 0),
            (200, "1", 30),
            (404, "35", 60),
            (200, "none", 60),
            (200, "60", 15),
            (200, "1", 5),
        ] {
            let send = async |server: &Server| {
                let request = server.request("/").header("x-status", status);
                Reply::to(request.header("x-used", used)).await
            };
            let (by_rules, in_code) = (send(&file).await, send(&code).await);
            assert_eq!(by_rules.all(), in_code.all(), "{settings}, {status}, {used}");
            let left = async |store: &St| store.left(&limit, &Key::GLOBAL).await;
            yield_until(async || left(&by_file).await == left(&by_code).await).await;
            file_clock.advance(Duration::from_secs(wait));
            code_clock.advance(Duration::from_secs(wait));
        }
    }
}
