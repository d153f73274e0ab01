//! Charges that stay although they were to be corrected when a response's body ends: it does not, or nobody knows more then.

use axum::{body::Body, http::Method};
use reqwest::Response;
use tokio::sync::mpsc::UnboundedSender;
use tollgate::{Global, RateLimitLayer, Sent};

use support::held::SECOND;

use crate::over_http::{
    fixture::{Reply, Server, TestStore, on_both_stores, yielding},
    handlers::{Chunk, Chunks},
    streaming::{HUNDRED, Next, left, serve, twenty},
};

on_both_stores![
    a_cost_that_nobody_knows_leaves_the_charge,
    a_body_that_breaks_off_keeps_its_charge,
    a_client_that_leaves_in_the_middle_keeps_its_charge,
    a_body_that_nobody_asks_for_keeps_its_charge,
    a_stream_that_outlives_its_window_gives_nothing_back,
];

async fn a_cost_that_nobody_knows_leaves_the_charge<St: TestStore>() {
    let ((store, _), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::fixed_window("bytes", HUNDRED, Global, store.clone())
        .cost(twenty)
        .settle_body(|_: &Sent| None);
    let server = Server::start(next.app().layer(layer)).await;
    for total in [80, 60] {
        next.is("hello");
        assert_eq!(server.get("/").await.body, "hello");
        assert_eq!(left(&store, "bytes").await, total);
    }
}

/// A body that has been sent so far, and may go on.
async fn send(server: &Server, next: &Next, chunks: &[&'static str]) -> (UnboundedSender<Chunk>, Response) {
    let (sender, body) = Chunks::new();
    next.is(Body::new(body));
    let mut response = server.request("/").send().await.unwrap();
    for chunk in chunks {
        sender.send(Ok(chunk)).unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), chunk);
    }
    (sender, response)
}

async fn a_body_that_breaks_off_keeps_its_charge<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    for (total, chunks) in [(80, &["abc", "def"][..]), (60, &[])] {
        let (sender, response) = send(&server, &next, chunks).await;
        sender.send(Err("it broke")).unwrap();
        assert!(response.bytes().await.is_err());
        yielding(async || sender.is_closed()).await;
        assert_eq!(left(&store, "bytes").await, total);
    }
}

async fn a_client_that_leaves_in_the_middle_keeps_its_charge<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    for (total, chunks) in [(80, &["abc", "def"][..]), (60, &[])] {
        let (sender, response) = send(&server, &next, chunks).await;
        drop(response);
        yielding(async || sender.is_closed()).await;
        assert_eq!(left(&store, "bytes").await, total);
    }
}

/// An answer to HEAD has none, whatever the handler made.
async fn a_body_that_nobody_asks_for_keeps_its_charge<St: TestStore>() {
    let (server, store, next) = serve::<St>().await;
    let head = async || Reply::to(server.request_by(Method::HEAD, "/")).await;
    next.is("hello");
    let reply = head().await;
    assert_eq!(
        (reply.remaining().as_str(), reply.header("content-length").as_str()),
        ("80", "5")
    );
    assert_eq!(left(&store, "bytes").await, 80);
    // There is nothing more to come of an empty one.
    next.is(Body::empty());
    assert_eq!(head().await.header("content-length"), "0");
    yielding(async || left(&store, "bytes").await == 80).await;
}

async fn a_stream_that_outlives_its_window_gives_nothing_back<St: TestStore>() {
    let ((store, clock), next) = (St::fresh(), Next::default());
    let layer = RateLimitLayer::fixed_window("bytes", HUNDRED, Global, store.clone())
        .cost(twenty)
        .settle_body(|sent: &Sent| sent.bytes());
    let server = Server::start(next.app().layer(layer)).await;
    let (sender, body) = Chunks::new();
    next.is(Body::new(body));
    let response = server.request("/").send().await.unwrap();
    clock.advance(60 * SECOND);
    next.is("x".repeat(30));
    assert_eq!(server.get("/").await.remaining(), "80");
    yielding(async || left(&store, "bytes").await == 70).await;
    drop(sender);
    assert_eq!(response.text().await.unwrap(), "");
    assert_eq!(left(&store, "bytes").await, 70);
}
