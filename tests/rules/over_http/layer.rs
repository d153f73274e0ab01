//! Settings of a layer in addition to its rules.

use std::time::Duration;

use axum::{
    extract::Request,
    http::Method,
    response::{IntoResponse, Response},
};
use tollgate::{HttpResponder, ManualClock, MemoryStore, RateLimitLayer, Rejection, RulesLayer};

use super::fixture::{NOTHING, NOW, Reply, Server, TestStore, decision_app, on_both_stores, rules, ten, yield_until};
use support::redis::RedisServer;

on_both_stores![
    a_layer_can_exempt_in_addition_to_its_rules,
    a_layer_can_block_in_addition_to_its_rules,
    a_layer_of_rules_can_wait,
    a_layer_of_rules_can_have_a_responder,
    tiers_in_code_are_in_a_layer_around_it,
];

fn one() -> String {
    ten("api", "key = \"global\"").replace("limit = 10", "limit = 1")
}

async fn a_layer_can_exempt_in_addition_to_its_rules<St: TestStore>() {
    let (store, _) = St::fresh();
    let file = one() + "[[exempt]]\nmethods = [\"OPTIONS\"]\n";
    let layer = RulesLayer::new(rules(&file), store).exempt(Method::HEAD);
    let server = Server::start(decision_app().layer(layer)).await;
    assert_eq!(server.get("/").await.status, 200);
    for (method, status) in [(Method::HEAD, 200), (Method::OPTIONS, 200), (Method::GET, 429)] {
        assert_eq!(Reply::to(server.request_by(method, "/")).await.status, status);
    }
}

async fn a_layer_can_block_in_addition_to_its_rules<St: TestStore>() {
    let (store, _) = St::fresh();
    let file = one() + "[[exempt]]\npath = \"/healthz\"\n";
    let layer = RulesLayer::new(rules(&file), store).block(|request: &Request| request.headers().contains_key("x-bot"));
    let server = Server::start(decision_app().layer(layer)).await;
    for (path, status) in [("/", 200), ("/", 429), ("/healthz", 200)] {
        let blocked = Reply::to(server.request(path).header("x-bot", "1")).await;
        assert_eq!(blocked.all(), (403, "-".into(), NOTHING.into()), "{path}");
        assert_eq!(server.get(path).await.status, status, "{path}");
    }
}

async fn a_layer_of_rules_can_wait<St: TestStore>() {
    let (store, clock) = St::fresh();
    let layer = RulesLayer::new(rules(&one()), store).wait(Duration::from_secs(45));
    let server = Server::start(decision_app().layer(layer)).await;
    assert_eq!(server.get("/").await.status, 200);
    let waiting = tokio::spawn(server.get("/"));
    yield_until(async || clock.pending_sleeps() == 1).await;
    // The next minute begins after 44.75 seconds.
    clock.set(659_999_999);
    assert_eq!(clock.pending_sleeps(), 1);
    clock.set(660_000_000);
    assert_eq!(waiting.await.unwrap().body, "api global, 0 left");
}

async fn a_layer_of_rules_can_have_a_responder<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RulesLayer::new(rules(&one()), store);
    let problems = layer.clone().respond_with(HttpResponder::new().problem_details());
    let terse = layer.respond_with(|why: Rejection| -> Response { (why.status(), "no").into_response() });
    let problems = Server::start(decision_app().layer(problems)).await;
    assert_eq!(problems.get("/").await.status, 200);
    let reply = problems.get("/").await;
    assert_eq!(reply.header("content-type"), "application/problem+json");
    assert_eq!(reply.json()["violated-policies"], serde_json::json!(["api"]));
    let reply = Server::start(decision_app().layer(terse)).await.get("/").await;
    assert_eq!((reply.status, reply.body.as_str()), (429, "no"));
}

async fn tiers_in_code_are_in_a_layer_around_it<St: TestStore>() {
    let (store, _) = St::fresh();
    let inner = RulesLayer::new(rules(&one()), store.clone());
    let quota = tollgate::Quota::per_minute(3);
    let outer = RateLimitLayer::fixed_window("outer", quota, tollgate::Global, store);
    let server = Server::start(decision_app().layer(inner).layer(outer)).await;
    assert_eq!(server.get("/").await.body, "outer global, 2 left\napi global, 0 left");
    for _ in 0..3 {
        assert_eq!(server.get("/").await.status, 429);
    }
}

/// A store whose Redis was killed, and the server, which reserves the port.
fn unreachable_store() -> (tollgate::RedisStore, RedisServer) {
    let mut redis = RedisServer::start();
    let store = redis.store().clock(ManualClock::at(NOW)).build().unwrap();
    redis.kill();
    (store, redis)
}

#[tokio::test]
async fn a_layer_of_rules_applies_its_failure_mode() {
    let (store, _server) = unreachable_store();
    let memory = MemoryStore::builder().clock(ManualClock::at(NOW)).build();
    let layer = RulesLayer::new(rules(&one()), store);
    for (server, statuses) in [
        (Server::start(decision_app().layer(layer.clone())).await, [200, 200]),
        (
            Server::start(decision_app().layer(layer.clone().fail_open())).await,
            [200, 200],
        ),
        (
            Server::start(decision_app().layer(layer.clone().fail_closed())).await,
            [503, 503],
        ),
        (
            Server::start(decision_app().layer(layer.fallback(memory))).await,
            [200, 429],
        ),
    ] {
        for status in statuses {
            assert_eq!(server.get("/").await.status, status);
        }
    }
}
