//! Requests that are not counted: those that pass in any case, and those that never do.

use axum::{extract::Request, http::Method};
use serde_json::json;
use tollgate::{FixedWindow, Global, Header, HttpAnswers, Key, Limit, ManualClock, Quota, RateLimitLayer};

use support::redis::RedisServer;

use crate::over_http::{
    fixture::{NOTHING, NOW, Reply, Server, TestStore, on_both_stores},
    handlers::obliging,
};

on_both_stores![
    a_closure_says_who_is_exempt_or_denied,
    a_method_is_exempt_or_denied,
    an_exempt_request_needs_no_key_and_a_denied_one_neither,
    whoever_is_denied_is_not_exempt,
    the_exempt_and_the_denied_are_not_counted_in_any_tier,
    a_denial_has_problem_details,
];

const ONE: Quota = Quota::per_minute(1);

const DENIED: &str = r#"{"error":"request_denied","message":"This request is not allowed."}"#;

/// Whether a request has this in its `x-is` header.
pub(crate) fn is(what: &'static str) -> impl Fn(&Request) -> bool + Clone {
    move |request| {
        let said = request.headers().get("x-is").map_or("", |said| said.to_str().unwrap());
        said.split(' ').any(|word| word == what)
    }
}

/// A request by a user who is this.
pub(crate) async fn ask(server: &Server, what: &str) -> Reply {
    Reply::to(server.request("/").header("x-user-id", "a").header("x-is", what)).await
}

/// The service answers, and does not say a word of limits.
fn is_exempt(reply: &Reply) {
    assert_eq!(reply.all(), (200, "-".into(), NOTHING.into()));
}

pub(crate) fn is_denied(reply: &Reply) {
    assert_eq!(reply.all(), (403, "-".into(), NOTHING.into()));
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(reply.body, DENIED);
}

async fn a_closure_says_who_is_exempt_or_denied<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", ONE, Header::new("x-user-id"), store)
        .exempt(is("staff"))
        .deny(is("bot"));
    let server = Server::start(obliging().layer(layer)).await;
    for status in [200, 429, 429] {
        is_exempt(&ask(&server, "staff").await);
        is_denied(&ask(&server, "bot").await);
        assert_eq!(ask(&server, "user").await.status, status);
    }
    is_exempt(&ask(&server, "staff").await);
}

async fn a_method_is_exempt_or_denied<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(3), Global, store)
        .exempt(Method::OPTIONS)
        .exempt([Method::PUT, Method::PATCH])
        .deny(Method::TRACE)
        .deny(vec![Method::DELETE]);
    let server = Server::start(obliging().layer(layer)).await;
    let ask = async |method| Reply::to(server.request_by(method, "/")).await;
    for status in [200, 429] {
        for method in [Method::OPTIONS, Method::PUT, Method::PATCH] {
            is_exempt(&ask(method).await);
        }
        for method in [Method::TRACE, Method::DELETE] {
            is_denied(&ask(method).await);
        }
        for method in [Method::GET, Method::POST, Method::HEAD] {
            assert_eq!(ask(method.clone()).await.status, status, "{method}");
        }
    }
}

async fn an_exempt_request_needs_no_key_and_a_denied_one_neither<St: TestStore>() {
    let (store, _) = St::fresh();
    // The one is said before the key's tier, and the other after it.
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(5), Global, store)
        .exempt(is("staff"))
        .tier("user", FixedWindow::new(ONE), Header::new("x-user-id"))
        .deny(is("bot"));
    let server = Server::start(obliging().layer(layer)).await;
    let ask = async |what: &str| Reply::to(server.request("/").header("x-is", what)).await;
    is_exempt(&ask("staff").await);
    is_denied(&ask("bot").await);
    assert_eq!(ask("user").await.all(), (400, "-".into(), NOTHING.into()));
}

async fn whoever_is_denied_is_not_exempt<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = |name| RateLimitLayer::fixed_window(name, ONE, Global, store.clone());
    for server in [
        Server::start(obliging().layer(layer("a").exempt(is("staff")).deny(is("bot")))).await,
        Server::start(obliging().layer(layer("b").deny(is("bot")).exempt(is("staff")))).await,
    ] {
        is_denied(&ask(&server, "staff bot").await);
        is_denied(&ask(&server, "bot").await);
        is_exempt(&ask(&server, "staff").await);
        assert_eq!(ask(&server, "user").await.status, 200);
    }
}

async fn the_exempt_and_the_denied_are_not_counted_in_any_tier<St: TestStore>() {
    let (store, _) = St::fresh();
    let ten = FixedWindow::new(Quota::per_minute(10));
    let layer = RateLimitLayer::new("all", ten, Global, store.clone())
        .exempt(is("staff"))
        .deny(is("bot"))
        .tier("user", ten, Header::new("x-user-id"))
        .tier("watched", ten, Global)
        .shadow();
    let server = Server::start(obliging().layer(layer)).await;
    for what in ["staff", "bot", "user", "staff", "bot"] {
        ask(&server, what).await;
    }
    for (name, key) in [
        ("all", Key::GLOBAL),
        ("user", Key::new("x-user-id:a")),
        ("watched", Key::GLOBAL),
    ] {
        assert_eq!(store.left(&Limit::new(name, ten), &key).await, 9, "{name}");
    }
}

async fn a_denial_has_problem_details<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", ONE, Global, store)
        .deny(is("bot"))
        .respond_with(HttpAnswers::new().problem_details());
    let server = Server::start(obliging().layer(layer)).await;
    let reply = ask(&server, "bot").await;
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

/// Only whoever is counted finds out that there is nobody to count.
#[tokio::test]
async fn no_store_is_asked_about_the_exempt_and_the_denied() {
    let mut redis = RedisServer::start();
    let store = redis.store().clock(ManualClock::at(NOW)).build().unwrap();
    redis.kill();
    let layer = RateLimitLayer::fixed_window("api", ONE, Global, store)
        .exempt(is("staff"))
        .deny(is("bot"))
        .fail_closed();
    let server = Server::start(obliging().layer(layer)).await;
    for _ in 0..3 {
        is_exempt(&ask(&server, "staff").await);
        is_denied(&ask(&server, "bot").await);
        assert_eq!(ask(&server, "user").await.all(), (503, "1".into(), NOTHING.into()));
    }
}
