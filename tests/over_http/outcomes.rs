//! Refunds by outcome: only failures count, or only what does not fail.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    BoxError, Router,
    error_handling::HandleError,
    extract::Request,
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use tokio::task::JoinSet;
use tollgate::{FixedWindow, Global, Key, Limit, ManualClock, Quota, RateLimitLayer, SlidingLog, Tier};
use tower::{Layer, service_fn};

use support::{algorithms::each_algorithm, queued_server::SECOND, redis::RedisServer};

use crate::over_http::fixture::{
    HandlerGate, NOW, Reply, Server, TestStore, is_success, number, on_both_stores, requested_cost, scripted_app,
};

on_both_stores![
    a_login_counts_its_failures_only,
    two_nodes_count_the_same_failures,
    concurrent_requests_never_exceed_the_limit,
    server_errors_are_refunded,
    the_headers_include_the_refund,
    a_refund_applies_to_the_tier_before_it,
    a_refund_restores_the_full_cost,
    any_of_several_refund_conditions_is_enough,
    an_expired_charge_is_not_refunded,
    a_handler_that_panics_keeps_its_charge,
    an_inner_error_keeps_its_charge,
    an_exempt_request_is_not_refunded,
];

/// Five wrong passwords per minute.
const LOGINS: Quota = Quota::per_minute(5);

fn is_server_error(response: &Response) -> bool {
    response.status().is_server_error()
}

/// Sends a request that gets this status. Returns the status and what remains.
async fn send(server: &Server, status: u16) -> (u16, String) {
    let reply = Reply::to(server.post("/").header("x-status", status)).await;
    (reply.status, reply.remaining())
}

/// On any node, a hundred right passwords and five wrong ones are admitted, and no request after them.
async fn assert_five_failures_are_admitted<St: TestStore, const N: usize>() {
    for algorithm in each_algorithm(LOGINS)
        .into_iter()
        .filter(|algorithm| !algorithm.is_queueing())
    {
        let mut servers = Vec::new();
        for node in St::nodes::<N>(&ManualClock::at(NOW)) {
            let layer = RateLimitLayer::new(Tier::new("logins", algorithm, Global).refund_if(is_success), node);
            servers.push(Server::start(scripted_app().layer(layer)).await);
        }
        let mut servers = servers.iter().cycle();
        let mut send = async |status| send(servers.next().unwrap(), status).await;
        for failed in 0..5 {
            for _ in 0..20 {
                assert_eq!(send(200).await, (200, (5 - failed).to_string()), "{algorithm:?}");
            }
            assert_eq!(send(401).await, (401, (4 - failed).to_string()), "{algorithm:?}");
        }
        for status in [401, 200, 401, 200] {
            assert_eq!(send(status).await, (429, "0".into()), "{algorithm:?}");
        }
    }
}

async fn a_login_counts_its_failures_only<St: TestStore>() {
    assert_five_failures_are_admitted::<St, 1>().await;
}

async fn two_nodes_count_the_same_failures<St: TestStore>() {
    assert_five_failures_are_admitted::<St, 2>().await;
}

async fn concurrent_requests_never_exceed_the_limit<St: TestStore>() {
    let (gate, failures) = (HandlerGate::new(), Arc::new(AtomicUsize::new(0)));
    let nodes = St::nodes::<2>(&ManualClock::at(NOW));
    let limit = Limit::new("logins", SlidingLog::new(LOGINS));
    let mut servers = Vec::new();
    for node in nodes.clone() {
        let (gate, failures) = (gate.clone(), failures.clone());
        let handler = async move || {
            gate.hold().await;
            let fails = failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            fails.map_or(StatusCode::OK, |_| StatusCode::UNAUTHORIZED)
        };
        let layer = RateLimitLayer::new(Tier::sliding_log("logins", LOGINS, Global).refund_if(is_success), node);
        servers.push(Server::start(Router::new().route("/", post(handler)).layer(layer)).await);
    }
    for (inside, fail) in [(5, 2), (3, 0), (3, 1), (2, 2), (0, 0)] {
        let clients = servers.iter().cycle().take(100);
        let mut clients: JoinSet<_> = clients.map(|server| Reply::to(server.post("/"))).collect();
        for _ in 0..100 - inside {
            let reply = clients.join_next().await.unwrap().unwrap();
            assert_eq!((reply.status, reply.header("retry-after").as_str()), (429, "60"));
        }
        gate.wait_until_inside(inside).await;
        assert_eq!((gate.inside(), clients.len()), (inside, inside));
        failures.store(fail, Ordering::SeqCst);
        gate.release(inside);
        let mut statuses: Vec<_> = clients.join_all().await.iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [vec![200; inside - fail], vec![401; fail]].concat());
        for node in &nodes {
            assert_eq!(node.left(&limit, &Key::GLOBAL).await, (inside - fail) as u64);
        }
    }
}

async fn server_errors_are_refunded<St: TestStore>() {
    for algorithm in each_algorithm(LOGINS)
        .into_iter()
        .filter(|algorithm| !algorithm.is_queueing())
    {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::new(Tier::new("api", algorithm, Global).refund_if(is_server_error), store);
        let server = Server::start(scripted_app().layer(layer)).await;
        for (status, left) in [
            (500, "5"),
            (200, "4"),
            (503, "4"),
            (404, "3"),
            (302, "2"),
            (429, "1"),
            (599, "1"),
            (400, "0"),
        ] {
            assert_eq!(send(&server, status).await, (status, left.into()), "{algorithm:?}");
        }
        assert_eq!(send(&server, 500).await, (429, "0".into()), "{algorithm:?}");
    }
}

async fn the_headers_include_the_refund<St: TestStore>() {
    let (store, clock) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::token_bucket("logins", LOGINS, Global).refund_if(is_success),
        store,
    );
    let server = Server::start(scripted_app().layer(layer)).await;
    let limits =
        |left, reset, more_in| format!(r#"5 {left} {reset} | "logins";q=5;w=60 | "logins";r={left};t={more_in}"#);
    let get = async |status: u16| Reply::to(server.request("/").header("x-status", status)).await.all();
    assert_eq!(get(200).await, (200, "-".into(), limits(5, 616, 60)));
    assert_eq!(get(401).await, (401, "-".into(), limits(4, 628, 48)));
    clock.advance(SECOND);
    assert_eq!(get(200).await, (200, "-".into(), limits(4, 628, 48)));
    assert_eq!(get(401).await, (401, "-".into(), limits(3, 640, 36)));
}

async fn a_refund_applies_to_the_tier_before_it<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(100), Global, store)
        .tier(Tier::fixed_window("failures", Quota::per_minute(50), Global).refund_if(is_success))
        .tier(
            Tier::token_bucket("successes", Quota::per_minute(60), Global)
                .refund_if(|response: &Response| !is_success(response)),
        )
        .tier(Tier::fixed_window("last", Quota::per_minute(70), Global));
    let server = Server::start(scripted_app().layer(layer)).await;
    for (status, [all, failures, successes, last]) in [
        (200, ["99;t=45", "50;t=60", "59;t=59", "69;t=45"]),
        (401, ["98;t=45", "49;t=45", "59;t=59", "68;t=45"]),
        (200, ["97;t=45", "49;t=45", "58;t=58", "67;t=45"]),
    ] {
        let reply = Reply::to(server.request("/").header("x-status", status)).await;
        let states = format!(r#""all";r={all}, "failures";r={failures}, "successes";r={successes}, "last";r={last}"#);
        assert_eq!(reply.header("ratelimit"), states);
    }
}

async fn a_refund_restores_the_full_cost<St: TestStore>() {
    for algorithm in each_algorithm(LOGINS) {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::new(
            Tier::new("api", algorithm, Global)
                .cost(requested_cost)
                .refund_if(is_success),
            store,
        );
        let server = Server::start(scripted_app().layer(layer)).await;
        for cost in [5, 0, 4, 1, 5] {
            let reply = Reply::to(server.request("/").header("x-cost", cost)).await;
            assert_eq!(
                (reply.status, reply.remaining().as_str()),
                (200, "5"),
                "{cost} of {algorithm:?}"
            );
        }
    }
}

async fn any_of_several_refund_conditions_is_enough<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("api", LOGINS, Global)
            .refund_if(is_server_error)
            .refund_if(|response: &Response| response.status() == StatusCode::NOT_MODIFIED),
        store,
    );
    let server = Server::start(scripted_app().layer(layer)).await;
    for (status, left) in [(500, "5"), (304, "5"), (200, "4"), (503, "4")] {
        assert_eq!(send(&server, status).await, (status, left.into()));
    }
}

async fn an_expired_charge_is_not_refunded<St: TestStore>() {
    for algorithm in each_algorithm(LOGINS) {
        let ((store, clock), gate) = (St::fresh(), HandlerGate::new());
        let layer = RateLimitLayer::new(Tier::new("api", algorithm, Global).refund_if(is_success), store.clone());
        let server = Server::start(gate.scripted_app().layer(layer)).await;
        let limit = Limit::new("api", algorithm);
        let slow = tokio::spawn(server.get("/"));
        gate.wait_until_inside(1).await;
        clock.advance(120 * SECOND);
        assert_eq!(store.left(&limit, &Key::GLOBAL).await, 5, "{algorithm:?}");
        let failing = tokio::spawn(Reply::to(server.request("/").header("x-status", 401)));
        gate.wait_until_inside(2).await;
        gate.release(1);
        assert_eq!(slow.await.unwrap().remaining(), "4", "{algorithm:?}");
        gate.release(1);
        assert_eq!(failing.await.unwrap().remaining(), "4", "{algorithm:?}");
        assert_eq!(store.left(&limit, &Key::GLOBAL).await, 4, "{algorithm:?}");
    }
}

async fn a_handler_that_panics_keeps_its_charge<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("api", LOGINS, Global).refund_if(|_: &Response| true),
        store.clone(),
    );
    let handler = async || -> &'static str { panic!("the handler panics") };
    let server = Server::start(Router::new().route("/", get(handler)).layer(layer)).await;
    for left in [4, 3] {
        assert!(server.request("/").send().await.is_err());
        assert_eq!(
            store
                .left(&Limit::new("api", FixedWindow::new(LOGINS)), &Key::GLOBAL)
                .await,
            left
        );
    }
}

async fn an_inner_error_keeps_its_charge<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("api", LOGINS, Global).refund_if(|_: &Response| true),
        store.clone(),
    );
    let broken = service_fn(async |_: Request| Err::<Response, BoxError>("the inner service broke".into()));
    let handle_error = async |error: BoxError| (StatusCode::BAD_GATEWAY, error.to_string());
    let server =
        Server::start(Router::new().route_service("/", HandleError::new(layer.layer(broken), handle_error))).await;
    for left in [4, 3] {
        assert_eq!(server.get("/").await.status, 502);
        assert_eq!(
            store
                .left(&Limit::new("api", FixedWindow::new(LOGINS)), &Key::GLOBAL)
                .await,
            left
        );
    }
}

async fn an_exempt_request_is_not_refunded<St: TestStore>() {
    let ((store, _), evaluated) = (St::fresh(), Arc::new(AtomicUsize::new(0)));
    let count = evaluated.clone();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("api", LOGINS, Global).refund_if(move |response: &Response| {
            count.fetch_add(1, Ordering::SeqCst);
            is_success(response)
        }),
        store,
    )
    .exempt(|request: &Request| number(request.headers(), "x-staff").is_some());
    let server = Server::start(scripted_app().layer(layer)).await;
    assert_eq!(send(&server, 401).await, (401, "4".into()));
    for _ in 0..3 {
        let reply = Reply::to(server.request("/").header("x-staff", 1)).await;
        assert_eq!((reply.status, reply.remaining().as_str()), (200, "-"));
    }
    assert_eq!(
        (evaluated.load(Ordering::SeqCst), send(&server, 200).await),
        (1, (200, "4".into()))
    );
}

/// The response passes, and reports what remained before.
#[tokio::test]
async fn redis_killed_before_the_refund_keeps_the_charge() {
    let (mut redis, gate) = (RedisServer::start(), HandlerGate::new());
    let store = redis.store().clock(ManualClock::at(NOW)).build().unwrap();
    let layer =
        RateLimitLayer::new(Tier::fixed_window("api", LOGINS, Global).refund_if(is_success), store).fail_closed();
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    let client = tokio::spawn(server.get("/"));
    gate.wait_until_inside(1).await;
    redis.kill();
    gate.release(1);
    let reply = client.await.unwrap();
    assert_eq!((reply.status, reply.remaining().as_str()), (200, "4"));
}
