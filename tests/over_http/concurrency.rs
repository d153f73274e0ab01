//! Concurrency limits: how long a request holds its slot, and what denied clients get.

use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode},
    response::IntoResponse,
    routing::any,
};
use tokio::sync::mpsc::UnboundedSender;
use tollgate::{
    Concurrency, Global, Key, Limit, Limiter, ManualClock, MemoryStore, Permit, Quota, RateLimitLayer, RedisStore,
    SentBody, Tier,
};
use tower::ServiceExt;

use support::{each_store::NOW, port::Port};

use crate::over_http::{
    fixture::{Chunk, Chunks, HandlerGate, NOTHING, Reply, Server, TestStore, on_both_stores, yield_until},
    streaming::Next,
};

on_both_stores![
    a_slot_is_held_until_the_handler_has_responded,
    a_slot_is_held_until_the_body_has_ended,
    a_body_that_fails_releases_its_slot,
    a_client_that_disconnects_in_mid_body_releases_its_slot,
    a_client_that_disconnects_during_the_handler_releases_its_slot,
    a_panic_releases_the_slot,
    a_future_that_is_dropped_releases_its_slot,
    an_error_of_the_service_releases_the_slot,
    a_kept_permit_holds_the_slot,
    stacked_layers_release_their_slots_together,
    a_denied_client_gets_a_hint,
    a_limit_of_the_service_denies_with_503,
    a_request_that_can_never_pass_is_a_429,
    a_rate_that_denies_too_determines_the_wait,
    a_denied_request_holds_nothing,
    a_request_waits_for_a_slot,
    a_waiting_request_finds_what_another_node_releases,
    a_wait_ends_at_its_maximum,
    slots_and_settlements_share_a_body,
    a_shadow_holds_a_slot_and_denies_no_request,
    a_limiter_holds_slots,
];

fn limit(slots: u32) -> Limit {
    Limit::new("uploads", Concurrency::new(slots))
}

async fn free<St: TestStore>(store: &St, slots: u32) -> u64 {
    store.left(&limit(slots), &Key::GLOBAL).await
}

async fn a_slot_is_held_until_the_handler_has_responded<St: TestStore>() {
    let ((store, _), gate) = (St::fresh(), HandlerGate::new());
    let layer = RateLimitLayer::concurrency("uploads", 2, Global, store.clone());
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    let clients = [(); 2].map(|()| tokio::spawn(server.get("/")));
    gate.wait_until_inside(2).await;
    assert_eq!(server.get("/").await.status, 429);
    gate.release(2);
    for client in clients {
        assert_eq!(client.await.unwrap().status, 200);
    }
    yield_until(async || free(&store, 2).await == 2).await;
}

/// A response whose body holds the only slot until its sender ends it.
async fn hold_by_body<St: TestStore>() -> (Server, St, UnboundedSender<Chunk>, reqwest::Response) {
    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, store.clone());
    let server = Server::start(next.app().layer(layer)).await;
    let (chunks, body) = Chunks::new();
    next.set(Body::new(body));
    let response = server.request("/").send().await.unwrap();
    assert_eq!((response.status().as_u16(), free(&store, 1).await), (200, 0));
    (server, store, chunks, response)
}

async fn a_slot_is_held_until_the_body_has_ended<St: TestStore>() {
    let (server, store, chunks, response) = hold_by_body::<St>().await;
    chunks.send(Ok("first")).unwrap();
    assert_eq!(server.get("/").await.status, 429);
    drop(chunks);
    assert_eq!(response.text().await.unwrap(), "first");
    yield_until(async || free(&store, 1).await == 1).await;
}

async fn a_body_that_fails_releases_its_slot<St: TestStore>() {
    let (_server, store, chunks, response) = hold_by_body::<St>().await;
    chunks.send(Err("broken")).unwrap();
    assert!(response.bytes().await.is_err());
    yield_until(async || free(&store, 1).await == 1).await;
}

async fn a_client_that_disconnects_in_mid_body_releases_its_slot<St: TestStore>() {
    let (_server, store, chunks, response) = hold_by_body::<St>().await;
    drop(response);
    // The server notices when it writes.
    yield_until(async || {
        let _ = chunks.send(Ok("more"));
        free(&store, 1).await == 1
    })
    .await;
}

async fn a_client_that_disconnects_during_the_handler_releases_its_slot<St: TestStore>() {
    let ((store, _), gate) = (St::fresh(), HandlerGate::new());
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, store.clone());
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    let client = tokio::spawn(server.get("/"));
    gate.wait_until_inside(1).await;
    assert_eq!(free(&store, 1).await, 0);
    client.abort();
    yield_until(async || free(&store, 1).await == 1).await;
}

async fn a_panic_releases_the_slot<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, store.clone());
    let app = Router::new().route("/", any(async || -> &'static str { panic!("as the test asks") }));
    let server = Server::start(app.layer(layer)).await;
    assert!(server.request("/").send().await.is_err());
    yield_until(async || free(&store, 1).await == 1).await;
}

async fn a_future_that_is_dropped_releases_its_slot<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, store.clone());
    let app: Router = Router::new().route("/", any(pending::<StatusCode>)).layer(layer);
    // Before the decision, and in the handler.
    for polls in [0, 1, 1000] {
        let mut response = Box::pin(app.clone().oneshot(Request::new(Body::empty())));
        for _ in 0..polls {
            assert!(futures_util::poll!(&mut response).is_pending());
            tokio::task::yield_now().await;
        }
        drop(response);
        yield_until(async || free(&store, 1).await == 1).await;
    }
}

async fn an_error_of_the_service_releases_the_slot<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, store.clone());
    let fails = tower::service_fn(async |_: Request<Body>| Err::<axum::response::Response, _>("broken"));
    let service = tower::ServiceBuilder::new().layer(layer).service(fails);
    assert_eq!(
        service.oneshot(Request::new(Body::empty())).await.unwrap_err(),
        "broken"
    );
    yield_until(async || free(&store, 1).await == 1).await;
}

async fn a_kept_permit_holds_the_slot<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, store.clone());
    let kept = Arc::new(Mutex::new(None));
    let keeper = Arc::clone(&kept);
    let handler = async move |permit: Option<Permit>| {
        *keeper.lock().unwrap() = permit;
        StatusCode::ACCEPTED
    };
    let server = Server::start(Router::new().route("/", any(handler)).layer(layer)).await;
    assert_eq!(server.get("/").await.status, 202);
    assert_eq!(server.get("/").await.status, 429);
    let permit = kept.lock().unwrap().take().unwrap();
    let clone = permit.clone();
    drop(permit);
    assert_eq!(free(&store, 1).await, 0);
    drop(clone);
    yield_until(async || free(&store, 1).await == 1).await;
}

async fn stacked_layers_release_their_slots_together<St: TestStore>() {
    let (store, _) = St::fresh();
    let inner = RateLimitLayer::concurrency("inner", 1, Global, store.clone());
    let outer = RateLimitLayer::concurrency("outer", 2, Global, store.clone());
    let kept = Arc::new(Mutex::new(None));
    let keeper = Arc::clone(&kept);
    let handler = async move |permit: Option<Permit>| *keeper.lock().unwrap() = permit;
    let server = Server::start(Router::new().route("/", any(handler)).layer(inner).layer(outer)).await;
    let [inner, outer] = [("inner", 1), ("outer", 2)].map(|(name, slots)| Limit::new(name, Concurrency::new(slots)));
    let left = async || {
        [
            store.left(&inner, &Key::GLOBAL).await,
            store.left(&outer, &Key::GLOBAL).await,
        ]
    };
    assert_eq!(server.get("/").await.status, 200);
    assert_eq!(left().await, [0, 1]);
    // The inner layer denies, and the slot of the outer one is released with the response.
    let denied = server.get("/").await;
    assert_eq!(
        (denied.status, denied.header("ratelimit").as_str()),
        (429, "\"inner\";r=0")
    );
    yield_until(async || left().await == [0, 1]).await;
    drop(kept.lock().unwrap().take());
    yield_until(async || left().await == [1, 2]).await;
}

/// A server with one slot, which a client holds.
async fn full<St: TestStore>(concurrency: Concurrency) -> (Server, HandlerGate, St) {
    let ((store, _), gate) = (St::fresh(), HandlerGate::new());
    let layer = RateLimitLayer::new(Tier::new("uploads", concurrency, Global), store.clone());
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    tokio::spawn(server.get("/"));
    gate.wait_until_inside(1).await;
    (server, gate, store)
}

async fn a_denied_client_gets_a_hint<St: TestStore>() {
    let (server, gate, _) = full::<St>(Concurrency::new(1).retry_after(Duration::from_millis(2500))).await;
    let denied = server.get("/").await;
    assert_eq!(denied.status, 429);
    assert_eq!(denied.header("retry-after"), "3");
    assert_eq!(
        denied.header("ratelimit-policy"),
        r#""uploads";q=1;qu="concurrent-requests""#
    );
    assert_eq!(denied.header("ratelimit"), r#""uploads";r=0"#);
    assert_eq!([denied.header("x-ratelimit-limit"), denied.remaining()], ["1", "0"]);
    let json = serde_json::json!({
        "error": "concurrency_limit_exceeded",
        "message": "Too many requests at once. Please retry after 3 seconds.",
        "retry_after": 3,
    });
    assert_eq!(denied.json(), json);
    gate.release(1);
}

async fn a_limit_of_the_service_denies_with_503<St: TestStore>() {
    let (server, gate, _) = full::<St>(Concurrency::new(1).unavailable_when_full()).await;
    let denied = server.get("/").await;
    assert_eq!((denied.status, denied.header("retry-after").as_str()), (503, "1"));
    gate.release(1);
}

/// The service would never be available for it.
async fn a_request_that_can_never_pass_is_a_429<St: TestStore>() {
    let ((store, _), gate) = (St::fresh(), HandlerGate::new());
    let limit = Tier::new("uploads", Concurrency::new(2).unavailable_when_full(), Global).cost(|_: &Request<Body>| 3);
    let server = Server::start(gate.scripted_app().layer(RateLimitLayer::new(limit, store))).await;
    let denied = server.get("/").await;
    assert_eq!((denied.status, denied.header("retry-after").as_str()), (429, "-"));
}

async fn a_rate_that_denies_too_determines_the_wait<St: TestStore>() {
    let ((store, _), gate) = (St::fresh(), HandlerGate::new());
    let uploads = Tier::new(
        "uploads",
        Concurrency::new(1).retry_after(Duration::from_secs(600)),
        Global,
    );
    let layer = RateLimitLayer::new(uploads, store).tier(Tier::fixed_window("minute", Quota::per_minute(1), Global));
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    tokio::spawn(server.get("/"));
    gate.wait_until_inside(1).await;
    let denied = server.get("/").await;
    // The minute ends in 44.75 seconds.
    assert_eq!(denied.header("retry-after"), "45");
    assert_eq!(denied.json()["error"], "rate_limit_exceeded");
    assert_eq!(denied.header("ratelimit"), r#""uploads";r=0, "minute";r=0;t=45"#);
    gate.release(1);
}

async fn a_denied_request_holds_nothing<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::concurrency("uploads", 2, Global, store.clone()).tier(Tier::fixed_window(
        "minute",
        Quota::per_minute(1),
        Global,
    ));
    let app = Router::new().route("/", any(async || "done")).layer(layer);
    let server = Server::start(app).await;
    assert_eq!(server.get("/").await.status, 200);
    yield_until(async || free(&store, 2).await == 2).await;
    assert_eq!(server.get("/").await.status, 429);
    assert_eq!(free(&store, 2).await, 2);
}

async fn a_request_waits_for_a_slot<St: TestStore>() {
    let ((store, _), gate) = (St::fresh(), HandlerGate::new());
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, store.clone()).wait(Duration::from_secs(600));
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    let clients = [(); 3].map(|()| tokio::spawn(server.get("/")));
    // No time passes: each is admitted when the one before it has been served.
    for served in 1..=3 {
        gate.wait_until_inside(1).await;
        gate.release(1);
        yield_until(async || clients.iter().filter(|client| client.is_finished()).count() == served).await;
    }
    for client in clients {
        assert_eq!(client.await.unwrap().status, 200);
    }
    yield_until(async || free(&store, 1).await == 1).await;
}

async fn a_waiting_request_finds_what_another_node_releases<St: TestStore>() {
    let clock = ManualClock::at(NOW);
    let ([node, other], gate) = (St::nodes(&clock), HandlerGate::new());
    let elsewhere = Limiter::concurrency("uploads", 1, other);
    let mut decision = elsewhere.check(&Key::GLOBAL).await.ok().unwrap();
    let held = elsewhere.hold(&mut decision).unwrap();
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, node).wait(Duration::from_secs(600));
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    let waiting = tokio::spawn(server.get("/"));
    yield_until(async || clock.pending_sleeps() == 1).await;
    drop(held);
    clock.advance(Duration::from_millis(50));
    gate.wait_until_inside(1).await;
    gate.release(1);
    assert_eq!(waiting.await.unwrap().status, 200);
}

async fn a_wait_ends_at_its_maximum<St: TestStore>() {
    let ((store, clock), gate) = (St::fresh(), HandlerGate::new());
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, store).wait(Duration::from_millis(120));
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    let served = tokio::spawn(server.get("/"));
    gate.wait_until_inside(1).await;
    let waiting = tokio::spawn(server.get("/"));
    // It asks after 50 and after 100 milliseconds, for what other nodes may have released.
    for step in [50, 50, 20] {
        yield_until(async || clock.pending_sleeps() == 1).await;
        assert!(!waiting.is_finished());
        clock.advance(Duration::from_millis(step));
    }
    assert_eq!(waiting.await.unwrap().status, 429);
    gate.release(1);
    assert_eq!(served.await.unwrap().status, 200);
}

async fn slots_and_settlements_share_a_body<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let bytes = Tier::fixed_window("bytes", Quota::per_minute(100), Global)
        .cost(|_: &axum::extract::Request| 20)
        .settle_body(|sent: &SentBody| sent.bytes());
    let layer = RateLimitLayer::concurrency("uploads", 1, Global, store.clone()).tier(bytes);
    let server = Server::start(next.app().layer(layer)).await;
    next.set("twelve bytes".into_response());
    assert_eq!(server.get("/").await.status, 200);
    yield_until(async || free(&store, 1).await == 1).await;
    let bytes = Limit::new("bytes", tollgate::FixedWindow::new(Quota::per_minute(100)));
    yield_until(async || store.left(&bytes, &Key::GLOBAL).await == 88).await;
}

async fn a_shadow_holds_a_slot_and_denies_no_request<St: TestStore>() {
    let ((store, _), gate) = (St::fresh(), HandlerGate::new());
    let shadow = Tier::concurrency("uploads", 1, Global).shadow();
    let layer = RateLimitLayer::new(shadow, store.clone());
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    let clients = [(); 2].map(|()| tokio::spawn(server.get("/")));
    gate.wait_until_inside(2).await;
    assert_eq!(free(&store, 1).await, 0);
    gate.release(2);
    for client in clients {
        let reply: Reply = client.await.unwrap();
        assert_eq!((reply.status, reply.limits()), (200, NOTHING.to_owned()));
    }
    yield_until(async || free(&store, 1).await == 1).await;
}

async fn a_limiter_holds_slots<St: TestStore>() {
    let (store, _) = St::fresh();
    let limiter = Limiter::concurrency("uploads", 1, store.clone());
    let key = Key::GLOBAL;
    let mut first = limiter.check(&key).await.ok().unwrap();
    let permit = limiter.hold(&mut first);
    assert!(first.admits() && permit.is_some() && limiter.hold(&mut first).is_none());
    assert!(!limiter.check(&key).await.ok().unwrap().admits());
    let waiting = tokio::spawn({
        let limiter = limiter.clone();
        async move { limiter.wait(&Key::GLOBAL, Duration::from_secs(600)).await.ok().unwrap() }
    });
    drop(permit);
    let mut second = waiting.await.unwrap();
    drop(limiter.hold(&mut second).unwrap());
    yield_until(async || free(&store, 1).await == 1).await;
}

/// A request that is not checked holds no slot, and one that the fallback admits holds a slot of this node.
#[tokio::test]
async fn while_redis_is_down_the_failure_mode_decides() {
    let unused = Port::free();
    let store = || RedisStore::connect(&format!("redis://127.0.0.1:{}", unused.number())).unwrap();
    let layer = || RateLimitLayer::concurrency("uploads", 1, Global, store());
    let handler = any(async |permit: Option<Permit>| if permit.is_some() { "held" } else { "unchecked" });
    let router = || Router::new().route("/", handler.clone());
    for (app, expected) in [
        (router().layer(layer()), (200, "unchecked")),
        (router().layer(layer().fallback(MemoryStore::new())), (200, "held")),
    ] {
        let server = Server::start(app).await;
        for _ in 0..2 {
            let reply = server.get("/").await;
            assert_eq!((reply.status, &*reply.body), expected);
        }
    }
    let closed = Server::start(router().layer(layer().fail_closed()))
        .await
        .get("/")
        .await;
    assert_eq!(closed.status, 503);
}
