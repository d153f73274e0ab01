//! Bodies that do not end, or whose cost is unknown: the charge is never reduced, and raised to what was sent.

use axum::{body::Body, extract::Request, http::Method};
use reqwest::Response;
use tokio::sync::mpsc::UnboundedSender;
use tollgate::{FixedWindow, Global, Key, Limit, Quota, RateLimitLayer, SentBody, Tier};

use support::queued_server::SECOND;

use crate::over_http::{
    fixture::{Chunk, Chunks, Reply, Server, TestStore, on_both_stores, yield_until},
    streaming::{HUNDRED, Next, left, serve, twenty},
};

on_both_stores![
    an_unknown_cost_keeps_the_charge,
    a_body_that_fails_keeps_its_charge,
    a_disconnect_during_the_body_keeps_the_charge,
    a_body_that_fails_after_more_than_its_charge_is_settled,
    a_disconnect_after_more_than_the_charge_is_settled,
    a_disconnect_is_settled_to_the_count_of_the_handler,
    megabytes_that_a_client_read_before_it_left_exhaust_its_limit,
    a_body_that_is_not_sent_keeps_its_charge,
    a_body_that_is_not_polled_keeps_its_charge,
    a_stream_that_outlives_its_window_refunds_nothing,
];

async fn an_unknown_cost_keeps_the_charge<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::new(
        Tier::fixed_window("bytes", HUNDRED, Global)
            .cost(twenty)
            .settle_body(|_: &SentBody| None),
        store.clone(),
    );
    let server = Server::start(next.app().layer(layer)).await;
    for total in [80, 60] {
        next.set("hello");
        assert_eq!(server.get("/").await.body, "hello");
        assert_eq!(left(&store, "bytes").await, total);
    }
}

/// A response whose body has sent these chunks, and can continue.
async fn send(server: &Server, next: &Next, chunks: &[&'static str]) -> (UnboundedSender<Chunk>, Response) {
    let (sender, body) = Chunks::new();
    next.set(Body::new(body));
    let mut response = server.request("/").send().await.unwrap();
    for chunk in chunks {
        sender.send(Ok(chunk)).unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), chunk);
    }
    (sender, response)
}

async fn a_body_that_fails_keeps_its_charge<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    for (total, chunks) in [(80, &["abc", "def"][..]), (60, &[])] {
        let (sender, response) = send(&server, &next, chunks).await;
        sender.send(Err("it broke")).unwrap();
        assert!(response.bytes().await.is_err());
        yield_until(async || sender.is_closed()).await;
        assert_eq!(left(&store, "bytes").await, total);
    }
}

async fn a_disconnect_during_the_body_keeps_the_charge<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    for (total, chunks) in [(80, &["abc", "def"][..]), (60, &[])] {
        let (sender, response) = send(&server, &next, chunks).await;
        drop(response);
        yield_until(async || sender.is_closed()).await;
        assert_eq!(left(&store, "bytes").await, total);
    }
}

/// Forty bytes, twice the charge.
const FORTY: [&str; 2] = ["abcdefghijklmnopqrst", "ABCDEFGHIJKLMNOPQRST"];

async fn a_body_that_fails_after_more_than_its_charge_is_settled<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    for total in [60, 20] {
        let (sender, response) = send(&server, &next, &FORTY).await;
        assert_eq!(left(&store, "bytes").await, total + 20);
        sender.send(Err("it broke")).unwrap();
        assert!(response.bytes().await.is_err());
        yield_until(async || left(&store, "bytes").await == total).await;
    }
}

async fn a_disconnect_after_more_than_the_charge_is_settled<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    for total in [60, 20] {
        let (sender, response) = send(&server, &next, &FORTY).await;
        assert_eq!(left(&store, "bytes").await, total + 20);
        drop(response);
        yield_until(async || sender.is_closed()).await;
        yield_until(async || left(&store, "bytes").await == total).await;
    }
    // A body of the charge exactly changes nothing.
    let (sender, response) = send(&server, &next, &FORTY[..1]).await;
    drop(response);
    yield_until(async || sender.is_closed()).await;
    assert_eq!(left(&store, "bytes").await, 0);
}

async fn a_disconnect_is_settled_to_the_count_of_the_handler<St: TestStore>() {
    #[derive(Clone)]
    struct Tokens(u64);

    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::new(
        Tier::fixed_window("bytes", HUNDRED, Global)
            .cost(twenty)
            .settle_body(|sent: &SentBody| sent.extensions().get().map(|Tokens(count)| *count)),
        store.clone(),
    );
    let server = Server::start(next.app().layer(layer)).await;
    for (tokens, total) in [(Some(35), 65), (Some(5), 45), (None, 25)] {
        let (sender, body) = Chunks::new();
        let mut response = axum::response::Response::new(Body::new(body));
        tokens.map(|count| response.extensions_mut().insert(Tokens(count)));
        next.set(response);
        let mut response = server.request("/").send().await.unwrap();
        sender.send(Ok("a")).unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), "a");
        drop(response);
        yield_until(async || sender.is_closed()).await;
        yield_until(async || left(&store, "bytes").await == total).await;
    }
}

/// A client that closes its connection after it has read most of a body.
async fn megabytes_that_a_client_read_before_it_left_exhaust_its_limit<St: TestStore>() {
    static MEGABYTE: [u8; 1 << 20] = [b'x'; 1 << 20];
    const READ: u64 = 4 << 20;

    let ((store, _), next) = (St::fresh(), Next::default());
    let quota = Quota::per_minute(2 << 20);
    let layer = RateLimitLayer::new(
        Tier::fixed_window("bytes", quota, Global)
            .cost(|_: &Request| 43_000)
            .settle_body(|sent: &SentBody| sent.bytes()),
        store.clone(),
    );
    let server = Server::start(next.app().layer(layer)).await;
    let (sender, body) = Chunks::new();
    next.set(Body::new(body));
    let mut response = server.request("/").send().await.unwrap();
    let megabyte = str::from_utf8(&MEGABYTE).unwrap();
    for _ in 0..5 {
        sender.send(Ok(megabyte)).unwrap();
    }
    let mut read = 0;
    while read < READ {
        read += response.chunk().await.unwrap().unwrap().len() as u64;
    }
    drop(response);
    yield_until(async || sender.is_closed()).await;
    let limit = Limit::new("bytes", FixedWindow::new(quota));
    yield_until(async || store.left(&limit, &Key::GLOBAL).await == 0).await;
    assert_eq!(server.get("/").await.status, 429);
}

/// A response to HEAD has no body, regardless of what the handler returns.
async fn a_body_that_is_not_sent_keeps_its_charge<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    let head = async || Reply::to(server.request_by(Method::HEAD, "/")).await;
    next.set("hello");
    let reply = head().await;
    assert_eq!(
        (reply.remaining().as_str(), reply.header("content-length").as_str()),
        ("80", "5")
    );
    assert_eq!(left(&store, "bytes").await, 80);
    // An empty body ends at once, and settles at zero.
    next.set(Body::empty());
    assert_eq!(head().await.header("content-length"), "0");
    yield_until(async || left(&store, "bytes").await == 80).await;
}

/// What the closure would return for a body of no bytes does not matter.
async fn a_body_that_is_not_polled_keeps_its_charge<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::new(
        Tier::fixed_window("bytes", HUNDRED, Global)
            .cost(twenty)
            .settle_body(|sent: &SentBody| 50 + sent.bytes()),
        store.clone(),
    );
    let server = Server::start(next.app().layer(layer)).await;
    for total in [80, 60] {
        next.set("hello");
        let reply = Reply::to(server.request_by(Method::HEAD, "/")).await;
        assert_eq!(reply.remaining(), total.to_string());
        assert_eq!(left(&store, "bytes").await, total);
    }
}

async fn a_stream_that_outlives_its_window_refunds_nothing<St: TestStore>() {
    let ((store, clock), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::new(
        Tier::fixed_window("bytes", HUNDRED, Global)
            .cost(twenty)
            .settle_body(|sent: &SentBody| sent.bytes()),
        store.clone(),
    );
    let server = Server::start(next.app().layer(layer)).await;
    let (sender, body) = Chunks::new();
    next.set(Body::new(body));
    let response = server.request("/").send().await.unwrap();
    clock.advance(60 * SECOND);
    next.set("x".repeat(30));
    assert_eq!(server.get("/").await.remaining(), "80");
    yield_until(async || left(&store, "bytes").await == 70).await;
    drop(sender);
    assert_eq!(response.text().await.unwrap(), "");
    assert_eq!(left(&store, "bytes").await, 70);
}
