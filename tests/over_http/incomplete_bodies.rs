//! Charges that body settlement leaves unchanged: the body does not end, or its cost is unknown.

use axum::{body::Body, http::Method};
use reqwest::Response;
use tokio::sync::mpsc::UnboundedSender;
use tollgate::{Global, RateLimitLayer, SentBody};

use support::queued_server::SECOND;

use crate::over_http::{
    fixture::{Chunk, Chunks, Reply, Server, TestStore, on_both_stores, yield_until},
    streaming::{HUNDRED, Next, left, serve, twenty},
};

on_both_stores![
    an_unknown_cost_keeps_the_charge,
    a_body_that_fails_keeps_its_charge,
    a_disconnect_during_the_body_keeps_the_charge,
    a_body_that_is_not_sent_keeps_its_charge,
    a_stream_that_outlives_its_window_refunds_nothing,
];

async fn an_unknown_cost_keeps_the_charge<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::fixed_window("bytes", HUNDRED, Global, store.clone())
        .cost(twenty)
        .settle_body(|_: &SentBody| None);
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

async fn a_stream_that_outlives_its_window_refunds_nothing<St: TestStore>() {
    let ((store, clock), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::fixed_window("bytes", HUNDRED, Global, store.clone())
        .cost(twenty)
        .settle_body(|sent: &SentBody| sent.bytes());
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
