//! Failure modes: a layer whose store cannot decide.

use axum::{Router, routing::get};
use tollgate::{
    Decision, FixedWindow, Global, HttpResponder, ManualClock, MemoryStore, Quota, RateLimitLayer, RedisStore,
    Rejection, Tier,
};

use support::{
    queued_server::{QueuedServer, SECOND},
    redis::{DEADLINE, RedisServer},
};

use crate::over_http::fixture::{NOTHING, NOW, Server};

/// A limit whose Redis was killed. The server is kept to reserve its port.
struct Failing {
    layer: RateLimitLayer<FixedWindow, Global, RedisStore>,
    clock: ManualClock,
    _redis: RedisServer,
}

/// A limit of ten, whose Redis is killed after one request.
async fn failing() -> Failing {
    let (mut redis, clock) = (RedisServer::start(), ManualClock::at(NOW));
    let store = redis.store().clock(clock.clone()).build().unwrap();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(10), Global, store);
    let server = Server::start(app().layer(layer.clone())).await;
    let reply = server.get("/").await;
    assert_eq!(reply.limits(), r#"10 9 660 | "api";q=10;w=60 | "api";r=9;t=45"#);
    assert_eq!(reply.body, "false [9]");
    redis.kill();
    Failing {
        layer,
        clock,
        _redis: redis,
    }
}

/// Responds with whether the request is unchecked, and what remains in its tiers.
fn app() -> Router {
    let handler = async |decision: Decision| {
        let left = decision.tiers().iter().map(|tier| tier.verdict().remaining());
        format!("{} {:?}", decision.is_unchecked(), left.collect::<Vec<_>>())
    };
    Router::new().route("/", get(handler))
}

#[tokio::test]
async fn fail_open_admits_requests_unchecked() {
    let Failing { layer, _redis, .. } = failing().await;
    for layer in [
        layer.clone(),
        layer.clone().fail_open(),
        layer.fail_closed().fail_open(),
    ] {
        let server = Server::start(app().layer(layer)).await;
        for _ in 0..20 {
            let reply = server.get("/").await;
            assert_eq!(reply.all(), (200, "-".into(), NOTHING.into()));
            assert_eq!(reply.body, "true []");
        }
    }
}

#[tokio::test]
async fn fail_closed_rejects_requests_as_unavailable() {
    let Failing { layer, _redis, .. } = failing().await;
    for layer in [layer.clone().fail_closed(), layer.fail_open().fail_closed()] {
        let server = Server::start(app().layer(layer)).await;
        for _ in 0..3 {
            let reply = server.get("/").await;
            assert_eq!(reply.all(), (503, "1".into(), NOTHING.into()));
            assert_eq!(reply.header("content-type"), "application/json");
            assert_eq!(
                reply.body,
                r#"{"error":"rate_limiter_unavailable","message":"The rate limiter cannot be reached. Please retry.","retry_after":1}"#
            );
        }
    }
}

/// The fallback store starts empty, and its responses have the same headers as those of Redis.
#[tokio::test]
async fn the_fallback_limits_on_this_node() {
    let Failing { layer, clock, _redis } = failing().await;
    let memory = MemoryStore::builder().clock(clock).build();
    let server = Server::start(app().layer(layer.fail_closed().fallback(memory))).await;
    for left in (0..10).rev() {
        let reply = server.get("/").await;
        let limits = format!(r#"10 {left} 660 | "api";q=10;w=60 | "api";r={left};t=45"#);
        assert_eq!((reply.status, reply.limits()), (200, limits));
        assert_eq!(reply.body, format!("false [{left}]"));
    }
    for _ in 0..3 {
        let reply = server.get("/").await;
        let limits = r#"10 0 660 | "api";q=10;w=60 | "api";r=0;t=45"#;
        assert_eq!(reply.all(), (429, "45".into(), limits.into()));
    }
}

#[tokio::test]
async fn fail_closed_uses_the_responder() {
    let Failing { layer, _redis, .. } = failing().await;
    let layer = layer.fail_closed();
    let problems = layer.clone().respond_with(HttpResponder::new().problem_details());
    let reply = Server::start(app().layer(problems)).await.get("/").await;
    let problem = serde_json::json!({
        "type": "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
        "title": "Service Unavailable",
        "status": 503,
        "detail": "The rate limiter cannot be reached. Please retry.",
        "retry_after": 1,
    });
    assert_eq!((reply.status, reply.json()), (503, problem));

    let respond = |why: Rejection| -> axum::response::Response {
        let Rejection::Unavailable(error) = why else {
            panic!("not {why:?}");
        };
        axum::response::IntoResponse::into_response(error.to_string())
    };
    let reply = Server::start(app().layer(layer.respond_with(respond)))
        .await
        .get("/")
        .await;
    assert!(reply.body.contains("127.0.0.1"), "{}", reply.body);
}

#[tokio::test]
async fn a_failing_layer_does_not_affect_the_others() {
    let Failing { layer, clock, _redis } = failing().await;
    let failing = layer;
    let memory = MemoryStore::builder().clock(clock).build();
    let layer = |name| RateLimitLayer::fixed_window(name, Quota::per_minute(2), Global, memory.clone());
    let app = app().layer(layer("inner")).layer(failing).layer(layer("outer"));
    let server = Server::start(app).await;
    for left in [1, 0] {
        let reply = server.get("/").await;
        let policies = r#""inner";q=2;w=60 + "outer";q=2;w=60"#;
        let states = format!(r#""inner";r={left};t=45 + "outer";r={left};t=45"#);
        assert_eq!(reply.limits(), format!("2 {left} 660 | {policies} | {states}"));
        assert_eq!(reply.body, format!("true [{left}, {left}]"));
    }
    assert_eq!(server.get("/").await.status, 429);
}

#[tokio::test]
async fn a_redis_that_was_never_reachable() {
    let nowhere = "redis://127.0.0.1:1";
    let store = RedisStore::builder().url(nowhere).deadline(DEADLINE);
    let layer = RateLimitLayer::sliding_log("api", Quota::per_minute(1), Global, store.build().unwrap());
    let open = Server::start(app().layer(layer.clone())).await;
    let closed = Server::start(app().layer(layer.fail_closed())).await;
    for _ in 0..3 {
        assert_eq!(open.get("/").await.body, "true []");
        assert_eq!(closed.get("/").await.all(), (503, "1".into(), NOTHING.into()));
    }
}

/// Each of the three waiting requests gets a response in turn, and none waits forever.
#[tokio::test]
async fn redis_killed_while_requests_wait_applies_the_failure_mode() {
    for (closed, expected) in [
        (false, (200, "-".into(), NOTHING.into())),
        (true, (503, "1".into(), NOTHING.into())),
    ] {
        let (mut redis, clock) = (RedisServer::start(), ManualClock::at(NOW));
        let store = redis.store().clock(clock.clone()).build().unwrap();
        let held = QueuedServer::with_store(store, clock, |app, store| {
            let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), Global, store).wait(60 * SECOND);
            app.layer(if closed { layer.fail_closed() } else { layer })
        })
        .await;
        assert_eq!(held.get(0).await.status, 200);
        let waiting = [held.wait(1).await, held.wait(2).await, held.wait(3).await];
        redis.kill();
        held.clock.advance(45 * SECOND);
        for waiting in waiting {
            assert_eq!(waiting.await.unwrap().all(), expected);
        }
        let served: Vec<_> = held.served().into_iter().map(|(request, _)| request).collect();
        assert_eq!(served, if closed { vec![0] } else { vec![0, 1, 2, 3] });
        assert_eq!(held.clock.pending_sleeps(), 0);
    }
}

#[tokio::test]
async fn redis_killed_while_requests_wait_switches_to_the_fallback() {
    let (mut redis, clock) = (RedisServer::start(), ManualClock::at(NOW));
    let store = redis.store().clock(clock.clone()).build().unwrap();
    let memory = MemoryStore::builder().clock(clock.clone()).build();
    let held = QueuedServer::with_store(store, clock, |app, store| {
        let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), Global, store).fallback(memory);
        app.layer(layer.wait(120 * SECOND))
    })
    .await;
    assert_eq!(held.get(0).await.status, 200);
    let [first, second] = [held.wait(1).await, held.wait(2).await];
    redis.kill();
    held.clock.set(660_000_000);
    assert_eq!(first.await.unwrap().status, 200);
    held.until_waiting(1).await;
    // The fallback has admitted one request, and the next one waits for the window after it.
    held.clock.set(719_999_999);
    assert_eq!(held.served(), [(0, 0), (1, 44_750_000)]);
    held.clock.set(720_000_000);
    assert_eq!(second.await.unwrap().status, 200);
    assert_eq!(held.served(), [(0, 0), (1, 44_750_000), (2, 104_750_000)]);
}

#[tokio::test]
async fn fail_closed_rejects_no_request_with_shadows_only() {
    let unreachable = RedisStore::connect("redis://127.0.0.1:1").unwrap();
    let shadow = |name| Tier::fixed_window(name, Quota::per_minute(10), Global).shadow();
    let layer = RateLimitLayer::new(shadow("first"), unreachable).tier(shadow("second"));
    let server = Server::start(app().layer(layer.fail_closed())).await;
    assert_eq!(server.get("/").await.all(), (200, "-".into(), NOTHING.into()));
}
