//! Charges that are given back by what came of their request: only failures count, or only what does not fail.

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
use tollgate::{FixedWindow, Global, Key, Limit, ManualClock, Quota, RateLimitLayer, SlidingLog, TokenBucket};
use tower::{Layer, service_fn};

use support::{held::SECOND, redis::RedisServer, rules::each_algorithm};

use crate::over_http::{
    fixture::{NOW, Reply, Server, TestStore, on_both_stores},
    handlers::{Keeper, asked, is_success, number, obliging},
};

on_both_stores![
    a_login_counts_its_failures_only,
    two_nodes_count_the_same_failures,
    no_more_than_the_limit_are_ever_inside,
    what_the_service_fails_to_do_is_not_charged,
    the_headers_tell_what_is_left_after_the_refund,
    a_refund_is_about_the_tier_before_it,
    all_of_an_expensive_request_is_given_back,
    one_of_several_refunds_is_enough,
    a_charge_that_has_lapsed_is_not_given_back,
    a_handler_that_panics_keeps_its_charge,
    an_error_of_the_inner_service_keeps_its_charge,
    an_exempt_request_has_nothing_to_give_back,
];

/// Five wrong passwords a minute.
const LOGINS: Quota = Quota::per_minute(5);

fn is_our_fault(response: &Response) -> bool {
    response.status().is_server_error()
}

/// A reply of this status, and what is left then.
async fn ask(server: &Server, status: u16) -> (u16, String) {
    let reply = Reply::to(server.post("/").header("x-status", status)).await;
    (reply.status, reply.remaining())
}

/// A hundred right passwords and five wrong ones among them pass, and no sixth, whoever is asked.
async fn guess<St: TestStore, const N: usize>() {
    for rule in each_algorithm(LOGINS).into_iter().filter(|rule| !rule.queues()) {
        let mut servers = Vec::new();
        for node in St::nodes::<N>(&ManualClock::at(NOW)) {
            let layer = RateLimitLayer::new("logins", rule, Global, node).refund_if(is_success);
            servers.push(Server::start(obliging().layer(layer)).await);
        }
        let mut servers = servers.iter().cycle();
        let mut ask = async |status| ask(servers.next().unwrap(), status).await;
        for wrong in 0..5 {
            for _ in 0..20 {
                assert_eq!(ask(200).await, (200, (5 - wrong).to_string()), "{rule:?}");
            }
            assert_eq!(ask(401).await, (401, (4 - wrong).to_string()), "{rule:?}");
        }
        for status in [401, 200, 401, 200] {
            assert_eq!(ask(status).await, (429, "0".into()), "{rule:?}");
        }
    }
}

async fn a_login_counts_its_failures_only<St: TestStore>() {
    guess::<St, 1>().await;
}

async fn two_nodes_count_the_same_failures<St: TestStore>() {
    guess::<St, 2>().await;
}

async fn no_more_than_the_limit_are_ever_inside<St: TestStore>() {
    let (keeper, failures) = (Keeper::new(), Arc::new(AtomicUsize::new(0)));
    let nodes = St::nodes::<2>(&ManualClock::at(NOW));
    let limit = Limit::new("logins", SlidingLog::new(LOGINS));
    let mut servers = Vec::new();
    for node in nodes.clone() {
        let (keeper, failures) = (keeper.clone(), failures.clone());
        let handler = async move || {
            keeper.keep().await;
            let fails = failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            fails.map_or(StatusCode::OK, |_| StatusCode::UNAUTHORIZED)
        };
        let layer = RateLimitLayer::new("logins", SlidingLog::new(LOGINS), Global, node).refund_if(is_success);
        servers.push(Server::start(Router::new().route("/", post(handler)).layer(layer)).await);
    }
    for (inside, fail) in [(5, 2), (3, 0), (3, 1), (2, 2), (0, 0)] {
        let clients = servers.iter().cycle().take(100);
        let mut clients: JoinSet<_> = clients.map(|server| Reply::to(server.post("/"))).collect();
        for _ in 0..100 - inside {
            let reply = clients.join_next().await.unwrap().unwrap();
            assert_eq!((reply.status, reply.header("retry-after").as_str()), (429, "60"));
        }
        keeper.keeps(inside).await;
        assert_eq!((keeper.inside(), clients.len()), (inside, inside));
        failures.store(fail, Ordering::SeqCst);
        keeper.let_go(inside);
        let mut statuses: Vec<_> = clients.join_all().await.iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [vec![200; inside - fail], vec![401; fail]].concat());
        for node in &nodes {
            assert_eq!(node.left(&limit, &Key::GLOBAL).await, (inside - fail) as u64);
        }
    }
}

async fn what_the_service_fails_to_do_is_not_charged<St: TestStore>() {
    for rule in each_algorithm(LOGINS).into_iter().filter(|rule| !rule.queues()) {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::new("api", rule, Global, store).refund_if(is_our_fault);
        let server = Server::start(obliging().layer(layer)).await;
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
            assert_eq!(ask(&server, status).await, (status, left.into()), "{rule:?}");
        }
        assert_eq!(ask(&server, 500).await, (429, "0".into()), "{rule:?}");
    }
}

async fn the_headers_tell_what_is_left_after_the_refund<St: TestStore>() {
    let (store, clock) = St::fresh();
    let layer = RateLimitLayer::token_bucket("logins", LOGINS, Global, store).refund_if(is_success);
    let server = Server::start(obliging().layer(layer)).await;
    let limits =
        |left, reset, more_in| format!(r#"5 {left} {reset} | "logins";q=5;w=60 | "logins";r={left};t={more_in}"#);
    let get = async |status: u16| Reply::to(server.request("/").header("x-status", status)).await.all();
    assert_eq!(get(200).await, (200, "-".into(), limits(5, 616, 0)));
    assert_eq!(get(401).await, (401, "-".into(), limits(4, 628, 12)));
    clock.advance(SECOND);
    assert_eq!(get(200).await, (200, "-".into(), limits(4, 628, 11)));
    assert_eq!(get(401).await, (401, "-".into(), limits(3, 640, 23)));
}

async fn a_refund_is_about_the_tier_before_it<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(100), Global, store)
        .tier("failures", FixedWindow::new(Quota::per_minute(50)), Global)
        .refund_if(is_success)
        .tier("successes", TokenBucket::new(Quota::per_minute(60)), Global)
        .refund_if(|response: &Response| !is_success(response))
        .tier("last", FixedWindow::new(Quota::per_minute(70)), Global);
    let server = Server::start(obliging().layer(layer)).await;
    for (status, [all, failures, successes, last]) in [
        (200, ["99;t=45", "50;t=0", "59;t=1", "69;t=45"]),
        (401, ["98;t=45", "49;t=45", "59;t=1", "68;t=45"]),
        (200, ["97;t=45", "49;t=45", "58;t=2", "67;t=45"]),
    ] {
        let reply = Reply::to(server.request("/").header("x-status", status)).await;
        let states = format!(r#""all";r={all}, "failures";r={failures}, "successes";r={successes}, "last";r={last}"#);
        assert_eq!(reply.header("ratelimit"), states);
    }
}

async fn all_of_an_expensive_request_is_given_back<St: TestStore>() {
    for rule in each_algorithm(LOGINS) {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::new("api", rule, Global, store)
            .cost(asked)
            .refund_if(is_success);
        let server = Server::start(obliging().layer(layer)).await;
        for cost in [5, 0, 4, 1, 5] {
            let reply = Reply::to(server.request("/").header("x-cost", cost)).await;
            assert_eq!(
                (reply.status, reply.remaining().as_str()),
                (200, "5"),
                "{cost} of {rule:?}"
            );
        }
    }
}

async fn one_of_several_refunds_is_enough<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", LOGINS, Global, store)
        .refund_if(is_our_fault)
        .refund_if(|response: &Response| response.status() == StatusCode::NOT_MODIFIED);
    let server = Server::start(obliging().layer(layer)).await;
    for (status, left) in [(500, "5"), (304, "5"), (200, "4"), (503, "4")] {
        assert_eq!(ask(&server, status).await, (status, left.into()));
    }
}

async fn a_charge_that_has_lapsed_is_not_given_back<St: TestStore>() {
    for rule in each_algorithm(LOGINS) {
        let ((store, clock), keeper) = (St::fresh(), Keeper::new());
        let layer = RateLimitLayer::new("api", rule, Global, store.clone()).refund_if(is_success);
        let server = Server::start(keeper.obliging().layer(layer)).await;
        let limit = Limit::new("api", rule);
        let slow = tokio::spawn(server.get("/"));
        keeper.keeps(1).await;
        clock.advance(120 * SECOND);
        assert_eq!(store.left(&limit, &Key::GLOBAL).await, 5, "{rule:?}");
        let failing = tokio::spawn(Reply::to(server.request("/").header("x-status", 401)));
        keeper.keeps(2).await;
        keeper.let_go(1);
        assert_eq!(slow.await.unwrap().remaining(), "4", "{rule:?}");
        keeper.let_go(1);
        assert_eq!(failing.await.unwrap().remaining(), "4", "{rule:?}");
        assert_eq!(store.left(&limit, &Key::GLOBAL).await, 4, "{rule:?}");
    }
}

async fn a_handler_that_panics_keeps_its_charge<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", LOGINS, Global, store.clone()).refund_if(|_: &Response| true);
    let handler = async || -> &'static str { panic!("as it is meant to") };
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

async fn an_error_of_the_inner_service_keeps_its_charge<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", LOGINS, Global, store.clone()).refund_if(|_: &Response| true);
    let broken = service_fn(async |_: Request| Err::<Response, BoxError>("the inner service broke".into()));
    let answer = async |error: BoxError| (StatusCode::BAD_GATEWAY, error.to_string());
    let server = Server::start(Router::new().route_service("/", HandleError::new(layer.layer(broken), answer))).await;
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

async fn an_exempt_request_has_nothing_to_give_back<St: TestStore>() {
    let ((store, _), asked) = (St::fresh(), Arc::new(AtomicUsize::new(0)));
    let count = asked.clone();
    let layer = RateLimitLayer::fixed_window("api", LOGINS, Global, store)
        .exempt(|request: &Request| number(request.headers(), "x-staff").is_some())
        .refund_if(move |response: &Response| {
            count.fetch_add(1, Ordering::SeqCst);
            is_success(response)
        });
    let server = Server::start(obliging().layer(layer)).await;
    assert_eq!(ask(&server, 401).await, (401, "4".into()));
    for _ in 0..3 {
        let reply = Reply::to(server.request("/").header("x-staff", 1)).await;
        assert_eq!((reply.status, reply.remaining().as_str()), (200, "-"));
    }
    assert_eq!(
        (asked.load(Ordering::SeqCst), ask(&server, 200).await),
        (1, (200, "4".into()))
    );
}

/// The response is fine, and tells what was left before.
#[tokio::test]
async fn a_charge_whose_redis_is_gone_stays() {
    let (mut redis, keeper) = (RedisServer::start(), Keeper::new());
    let store = redis.store().clock(ManualClock::at(NOW)).build().unwrap();
    let layer = RateLimitLayer::fixed_window("api", LOGINS, Global, store)
        .fail_closed()
        .refund_if(is_success);
    let server = Server::start(keeper.obliging().layer(layer)).await;
    let client = tokio::spawn(server.get("/"));
    keeper.keeps(1).await;
    redis.kill();
    keeper.let_go(1);
    let reply = client.await.unwrap();
    assert_eq!((reply.status, reply.remaining().as_str()), (200, "4"));
}
