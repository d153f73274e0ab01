//! Settlements at the end of a response's body.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{StatusCode, header::CONTENT_LENGTH},
    response::{IntoResponse, Response},
    routing::any,
};
use tollgate::{FixedWindow, Global, Key, Limit, Quota, RateLimitLayer, SentBody, Tier};

use crate::over_http::fixture::{Chunks, Server, TestStore, number, on_both_stores, yield_until};

on_both_stores![
    a_stream_is_settled_when_it_ends,
    a_settlement_above_the_charge_becomes_a_debt,
    a_cost_that_the_handler_counts_is_settled,
    a_body_of_a_known_length_is_settled_with_its_last_byte,
    a_buffered_body_is_settled_and_an_empty_one_costs_zero,
    tiers_settle_on_the_response_or_on_its_body,
    a_settlement_by_the_response_overrides_one_by_its_body,
    stacked_layers_settle_the_same_body,
];

pub(crate) const HUNDRED: Quota = Quota::per_minute(100);

/// The charge until the true cost is known.
pub(crate) fn twenty(_: &Request) -> u64 {
    20
}

/// The next response, which the test sets.
#[derive(Clone, Default)]
pub(crate) struct Next(Arc<Mutex<Option<Response>>>);

impl Next {
    pub(crate) fn set(&self, response: impl IntoResponse) {
        *self.0.lock().unwrap() = Some(response.into_response());
    }

    pub(crate) fn app(&self) -> Router {
        let next = self.clone();
        Router::new().route("/", any(async move || next.0.lock().unwrap().take().unwrap()))
    }
}

pub(crate) async fn left<St: TestStore>(store: &St, name: &str) -> u64 {
    store
        .left(&Limit::new(name, FixedWindow::new(HUNDRED)), &Key::GLOBAL)
        .await
}

/// A hundred bytes per minute. Each response is charged twenty until it is settled.
pub(crate) async fn serve<St: TestStore>() -> (Server, St, Next) {
    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::new(
        Tier::fixed_window("bytes", HUNDRED, Global)
            .cost(twenty)
            .settle_body(|sent: &SentBody| sent.bytes()),
        store.clone(),
    );
    (Server::start(next.app().layer(layer)).await, store, next)
}

async fn a_stream_is_settled_when_it_ends<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    let (sender, body) = Chunks::new();
    next.set(Body::new(body));
    let mut response = server.request("/").send().await.unwrap();
    // The headers are sent before the body, and contain what remained then.
    assert_eq!(response.headers()["x-ratelimit-remaining"], "80");
    for chunk in ["a", "", "bcd", "efgh"] {
        sender.send(Ok(chunk)).unwrap();
        if !chunk.is_empty() {
            assert_eq!(response.chunk().await.unwrap().unwrap(), chunk);
        }
        assert_eq!(left(&store, "bytes").await, 80);
    }
    drop(sender);
    assert_eq!(response.chunk().await.unwrap(), None);
    yield_until(async || left(&store, "bytes").await == 92).await;
}

async fn a_settlement_above_the_charge_becomes_a_debt<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    for (length, total) in [(30, 70), (50, 20), (100, 0)] {
        next.set("x".repeat(length));
        assert_eq!(server.get("/").await.body.len(), length);
        yield_until(async || left(&store, "bytes").await == total).await;
    }
    assert_eq!(server.get("/").await.status, 429);
}

async fn a_cost_that_the_handler_counts_is_settled<St: TestStore>() {
    #[derive(Clone, Default)]
    struct Tokens(Arc<AtomicU64>);

    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::new(
        Tier::fixed_window("tokens", HUNDRED, Global)
            .cost(twenty)
            .settle_body(|sent: &SentBody| Some(sent.extensions().get::<Tokens>()?.0.load(Ordering::SeqCst))),
        store.clone(),
    );
    let server = Server::start(next.app().layer(layer)).await;
    let ((sender, body), tokens) = (Chunks::new(), Tokens::default());
    let mut response = Response::new(Body::new(body));
    response.extensions_mut().insert(tokens.clone());
    next.set(response);
    let mut response = server.request("/").send().await.unwrap();
    for chunk in ["three", "more", "words"] {
        tokens.0.fetch_add(1, Ordering::SeqCst);
        sender.send(Ok(chunk)).unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), chunk);
        assert_eq!(left(&store, "tokens").await, 80);
    }
    drop(sender);
    assert_eq!(response.chunk().await.unwrap(), None);
    yield_until(async || left(&store, "tokens").await == 97).await;
}

async fn a_body_of_a_known_length_is_settled_with_its_last_byte<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    // hyper polls a body only up to its announced length, so this body never has to end.
    let (sender, body) = Chunks::new();
    next.set(([(CONTENT_LENGTH, "6")], Body::new(body)));
    let mut response = server.request("/").send().await.unwrap();
    sender.send(Ok("abc")).unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "abc");
    assert_eq!(left(&store, "bytes").await, 80);
    sender.send(Ok("def")).unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "def");
    assert_eq!(response.chunk().await.unwrap(), None);
    yield_until(async || left(&store, "bytes").await == 94).await;
}

async fn a_buffered_body_is_settled_and_an_empty_one_costs_zero<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    for (body, length, total) in [
        (Body::from("hello"), "5", 95),
        (Body::empty(), "0", 95),
        (Body::from(""), "0", 95),
        (Body::from("x".repeat(20)), "20", 75),
        (Body::new(Chunks::of(&[])), "-", 75),
    ] {
        next.set(body);
        let reply = server.get("/").await;
        assert_eq!((reply.status, reply.header("content-length").as_str()), (200, length));
        yield_until(async || left(&store, "bytes").await == total).await;
    }
}

async fn tiers_settle_on_the_response_or_on_its_body<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::fixed_window("requests", HUNDRED, Global, store.clone())
        .tier(
            Tier::fixed_window("rows", HUNDRED, Global)
                .cost(twenty)
                .settle(|response: &Response| number(response.headers(), "x-rows")),
        )
        .tier(
            Tier::fixed_window("bytes", HUNDRED, Global)
                .cost(twenty)
                .settle_body(|sent: &SentBody| sent.bytes()),
        )
        .tier(
            Tier::fixed_window("failures", HUNDRED, Global)
                .refund_if(|response: &Response| response.status().is_success()),
        );
    let server = Server::start(next.app().layer(layer)).await;
    let all = async || {
        let mut all = Vec::new();
        for name in ["requests", "rows", "bytes", "failures"] {
            all.push(left(&store, name).await);
        }
        all
    };
    let (sender, body) = Chunks::new();
    next.set(([("x-rows", "7")], Body::new(body)));
    let mut response = server.request("/").send().await.unwrap();
    let states = r#""requests";r=99;t=45, "rows";r=93;t=45, "bytes";r=80;t=45, "failures";r=100;t=60"#;
    assert_eq!(response.headers()["ratelimit"], states);
    sender.send(Ok("abc")).unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "abc");
    assert_eq!(all().await, [99, 93, 80, 100]);
    drop(sender);
    assert_eq!(response.chunk().await.unwrap(), None);
    yield_until(async || all().await == [99, 93, 97, 100]).await;
}

async fn a_settlement_by_the_response_overrides_one_by_its_body<St: TestStore>() {
    let rows = |response: &Response| number(response.headers(), "x-rows");
    let failed = |response: &Response| response.status().is_server_error();
    let bytes = |sent: &SentBody| (sent.bytes() > 0).then_some(sent.bytes());
    let ((store, _), next) = (St::fresh(), Next::default());
    let tier = |name| Tier::fixed_window(name, HUNDRED, Global).cost(twenty);
    let behind = tier("behind").settle(rows).refund_if(failed).settle_body(bytes);
    let before = tier("before").settle_body(bytes).settle(rows).refund_if(failed);
    let app = next
        .app()
        .layer(RateLimitLayer::new(behind, store.clone()))
        .layer(RateLimitLayer::new(before, store.clone()));
    let server = Server::start(app).await;
    let mut before = 100;
    for (status, rows, body, cost) in [
        (200, None, "hello", 5),
        (200, Some("7"), "hello", 7),
        // A settlement that equals the charge counts too.
        (200, Some("20"), "hello", 20),
        (500, Some("7"), "hello", 0),
        (500, None, "hello", 0),
        (200, Some("7"), "", 7),
        (500, Some("7"), "", 0),
        (200, None, "", 20),
    ] {
        let rows = rows.map(|rows| [("x-rows", rows)]);
        let mut response = body.into_response();
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        rows.into_iter().flatten().for_each(|(name, rows)| {
            response.headers_mut().insert(name, rows.parse().unwrap());
        });
        next.set(response);
        assert_eq!(server.get("/").await.status, status);
        let after = before - cost;
        yield_until(async || [left(&store, "behind").await, left(&store, "before").await] == [after; 2]).await;
        before = after;
    }
}

async fn stacked_layers_settle_the_same_body<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = |name, times: u64| {
        let tier = Tier::fixed_window(name, HUNDRED, Global).cost(twenty);
        RateLimitLayer::new(
            tier.settle_body(move |sent: &SentBody| times * sent.bytes()),
            store.clone(),
        )
    };
    let app = next.app().layer(layer("inner", 1)).layer(layer("outer", 2));
    let server = Server::start(app).await;
    for (body, [inner, outer]) in [
        (Body::from("hello"), [95, 90]),
        (Body::new(Chunks::of(&["abc", "d"])), [91, 82]),
    ] {
        next.set(body);
        assert_eq!(server.get("/").await.status, 200);
        yield_until(async || (left(&store, "inner").await, left(&store, "outer").await) == (inner, outer)).await;
    }
}
