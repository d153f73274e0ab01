//! Requests that are not counted: exempt ones, which always pass, and blocked ones, which never do.

use axum::{extract::Request, http::Method};
use serde_json::json;
use tollgate::{
    ClientIp, FixedWindow, Global, Header, HttpResponder, Key, Limit, ManualClock, Quota, RateLimitLayer, Tier,
};

use support::redis::RedisServer;

use crate::over_http::fixture::{NOTHING, NOW, Reply, Server, TestStore, on_both_stores, scripted_app};

on_both_stores![
    a_closure_exempts_or_blocks_requests,
    a_method_is_exempt_or_blocked,
    exempt_and_blocked_requests_need_no_key,
    one_exemption_is_enough,
    a_block_overrides_an_exemption,
    exempt_and_blocked_requests_are_counted_in_no_tier,
    a_block_has_problem_details,
];

const ONE: Quota = Quota::per_minute(1);

const BLOCKED: &str = r#"{"error":"request_blocked","message":"This request is not allowed."}"#;

/// Whether the request's `x-is` header contains this value.
pub(crate) fn is(what: &'static str) -> impl Fn(&Request) -> bool + Clone {
    move |request| {
        let values = request
            .headers()
            .get("x-is")
            .map_or("", |values| values.to_str().unwrap());
        values.split(' ').any(|value| value == what)
    }
}

/// Sends a request with this `x-is` header.
pub(crate) async fn send(server: &Server, what: &str) -> Reply {
    Reply::to(server.request("/").header("x-user-id", "a").header("x-is", what)).await
}

/// The service responds, without rate limit headers.
fn is_exempt(reply: &Reply) {
    assert_eq!(reply.all(), (200, "-".into(), NOTHING.into()));
}

pub(crate) fn is_blocked(reply: &Reply) {
    assert_eq!(reply.all(), (403, "-".into(), NOTHING.into()));
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(reply.body, BLOCKED);
}

async fn a_closure_exempts_or_blocks_requests<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", ONE, Header::new("x-user-id"), store)
        .exempt(is("staff"))
        .block(is("bot"));
    let server = Server::start(scripted_app().layer(layer)).await;
    for status in [200, 429, 429] {
        is_exempt(&send(&server, "staff").await);
        is_blocked(&send(&server, "bot").await);
        assert_eq!(send(&server, "user").await.status, status);
    }
    is_exempt(&send(&server, "staff").await);
}

async fn a_method_is_exempt_or_blocked<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(3), Global, store)
        .exempt(Method::OPTIONS)
        .exempt([Method::PUT, Method::PATCH])
        .block(Method::TRACE)
        .block(vec![Method::DELETE]);
    let server = Server::start(scripted_app().layer(layer)).await;
    let send = async |method| Reply::to(server.request_by(method, "/")).await;
    for status in [200, 429] {
        for method in [Method::OPTIONS, Method::PUT, Method::PATCH] {
            is_exempt(&send(method).await);
        }
        for method in [Method::TRACE, Method::DELETE] {
            is_blocked(&send(method).await);
        }
        for method in [Method::GET, Method::POST, Method::HEAD] {
            assert_eq!(send(method.clone()).await.status, status, "{method}");
        }
    }
}

async fn exempt_and_blocked_requests_need_no_key<St: TestStore>() {
    let (store, _) = St::fresh();
    // One filter is added before the tier that needs the key, the other one after it.
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(5), Global, store)
        .exempt(is("staff"))
        .tier(Tier::fixed_window("user", ONE, Header::new("x-user-id")))
        .block(is("bot"));
    let server = Server::start(scripted_app().layer(layer)).await;
    let send = async |what: &str| Reply::to(server.request("/").header("x-is", what)).await;
    is_exempt(&send("staff").await);
    is_blocked(&send("bot").await);
    assert_eq!(send("user").await.all(), (400, "-".into(), NOTHING.into()));
}

/// Whether the other exemption applies cannot be known without the address, and need not be.
async fn one_exemption_is_enough<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = || RateLimitLayer::fixed_window("all", Quota::per_minute(5), Global, store.clone());
    let office = || ClientIp::peer().in_networks(["192.0.2.0/24"]);
    for app in [
        scripted_app().layer(layer().exempt(is("staff")).exempt(office())),
        scripted_app().layer(layer().exempt(office()).exempt(is("staff"))),
    ] {
        let server = Server::start_without_peers(app).await;
        is_exempt(&send(&server, "staff").await);
        assert_eq!(send(&server, "user").await.status, 500);
    }
}

async fn a_block_overrides_an_exemption<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = |name| RateLimitLayer::fixed_window(name, ONE, Global, store.clone());
    for server in [
        Server::start(scripted_app().layer(layer("a").exempt(is("staff")).block(is("bot")))).await,
        Server::start(scripted_app().layer(layer("b").block(is("bot")).exempt(is("staff")))).await,
    ] {
        is_blocked(&send(&server, "staff bot").await);
        is_blocked(&send(&server, "bot").await);
        is_exempt(&send(&server, "staff").await);
        assert_eq!(send(&server, "user").await.status, 200);
    }
}

async fn exempt_and_blocked_requests_are_counted_in_no_tier<St: TestStore>() {
    let (store, _) = St::fresh();
    let ten = FixedWindow::new(Quota::per_minute(10));
    let layer = RateLimitLayer::new(Tier::new("all", ten, Global), store.clone())
        .exempt(is("staff"))
        .block(is("bot"))
        .tier(Tier::new("user", ten, Header::new("x-user-id")))
        .tier(Tier::new("watched", ten, Global).shadow());
    let server = Server::start(scripted_app().layer(layer)).await;
    for what in ["staff", "bot", "user", "staff", "bot"] {
        send(&server, what).await;
    }
    for (name, key) in [
        ("all", Key::GLOBAL),
        ("user", Key::new("x-user-id:a")),
        ("watched", Key::GLOBAL),
    ] {
        assert_eq!(store.left(&Limit::new(name, ten), &key).await, 9, "{name}");
    }
}

async fn a_block_has_problem_details<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", ONE, Global, store)
        .block(is("bot"))
        .respond_with(HttpResponder::new().problem_details());
    let server = Server::start(scripted_app().layer(layer)).await;
    let reply = send(&server, "bot").await;
    assert_eq!(reply.all(), (403, "-".into(), NOTHING.into()));
    assert_eq!(reply.header("content-type"), "application/problem+json");
    let problem = json!({
        "type": "about:blank",
        "title": "Forbidden",
        "status": 403,
        "detail": "This request is not allowed.",
    });
    assert_eq!(reply.json(), problem);
}

/// Only a counted request notices that the store is unreachable.
#[tokio::test]
async fn exempt_and_blocked_requests_do_not_call_the_store() {
    let mut redis = RedisServer::start();
    let store = redis.store().clock(ManualClock::at(NOW)).build().unwrap();
    redis.kill();
    let layer = RateLimitLayer::fixed_window("api", ONE, Global, store)
        .exempt(is("staff"))
        .block(is("bot"))
        .fail_closed();
    let server = Server::start(scripted_app().layer(layer)).await;
    for _ in 0..3 {
        is_exempt(&send(&server, "staff").await);
        is_blocked(&send(&server, "bot").await);
        assert_eq!(send(&server, "user").await.all(), (503, "1".into(), NOTHING.into()));
    }
}
