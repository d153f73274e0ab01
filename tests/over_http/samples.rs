//! The sample responses of the documentation are what the layers respond.

use std::net::SocketAddr;

use axum::{Router, body::Body, extract::Request, extract::connect_info::MockConnectInfo, routing::get};
use http_body_util::BodyExt;
use support::page::{Kind, Page};
use tollgate::{
    ClientIp, Global, Header, ManualClock, MemoryStore, Micros, Permit, Quota, RateLimitLayer, SlidingCounter, Tier,
};
use tower::ServiceExt;

/// The lines of the last of several responses: status, headers and body.
async fn response(app: Router, requests: usize) -> Vec<String> {
    let app = app.layer(MockConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4711))));
    let mut last = None;
    for _ in 0..requests {
        let request = Request::builder().header("x-user-id", "alice").body(Body::empty());
        last = Some(app.clone().oneshot(request.unwrap()).await.unwrap());
    }
    let (parts, body) = last.unwrap().into_parts();
    let status = parts.status.to_string();
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
    let headers: Vec<_> = headers.filter(|line| !line.starts_with("content-length")).collect();
    let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    [vec![status], headers, vec![String::new(), body]].concat()
}

fn store_at(now: Micros) -> MemoryStore {
    MemoryStore::builder().clock(ManualClock::at(now)).build()
}

/// The README shows a denial of the example `quickstart`.
async fn denial_of_the_quickstart() -> Vec<String> {
    let user = Header::new("x-user-id").label("user").or(ClientIp::peer());
    let counter = |limit| SlidingCounter::new(Quota::per_minute(limit));
    let store = store_at(1_794_717_551_200_000);
    let layer = RateLimitLayer::sliding_counter("global", Quota::per_minute(10_000), Global, store)
        .tier(Tier::new("user", counter(100), user.clone()))
        .tier(Tier::new("expensive", counter(10), user));
    let app = Router::new()
        .route("/", get(async || "that took some work\n"))
        .layer(layer);
    response(app, 11).await
}

/// docs/guide/quick_start.md shows a denial of its service.
async fn denial_of_the_quick_start() -> Vec<String> {
    let store = store_at(1_794_717_600_000_000);
    let layer = RateLimitLayer::token_bucket("hello", Quota::per_minute(5), ClientIp::peer(), store);
    let app = Router::new().route("/", get(async || "hello\n")).layer(layer);
    response(app, 6).await
}

/// docs/concurrency.md and docs/headers.md show responses of this limit: the last of several requests whose slots are held.
async fn with_slots_held(requests: usize) -> Vec<String> {
    let store = store_at(1_794_717_600_000_000);
    let layer = RateLimitLayer::concurrency("uploads", 20, Header::new("x-user-id"), store);
    let app = Router::new()
        .route("/", get(async |permit: Option<Permit>| hold(permit)))
        .layer(layer);
    response(app, requests).await
}

/// Holds the slots until the process ends.
fn hold(permit: Option<Permit>) -> &'static str {
    std::mem::forget(permit);
    "held"
}

/// Without the protocol, and with names of headers in lower case, as HTTP/2 sends them.
fn lines(sample: &str) -> Vec<String> {
    let sample = sample.strip_prefix("HTTP/1.1 ").unwrap_or(sample).trim_end();
    let lines = sample.lines().map(|line| match line.split_once(": ") {
        Some((name, value)) if !name.contains(['{', ' ']) => format!("{}: {value}", name.to_ascii_lowercase()),
        _ => line.to_owned(),
    });
    lines.collect()
}

/// Whether a sample is this response, or some of its headers. The order of headers has no meaning.
fn shows(sample: &[String], response: &[String]) -> bool {
    let is_whole = sample.last() == response.last() && sample.len() == response.len();
    let has_only_headers = sample.iter().all(|line| line.contains(": ") && !line.starts_with('{'));
    (is_whole || has_only_headers) && sample.iter().all(|line| response.contains(line))
}

#[tokio::test]
async fn every_sample_response_is_sent() {
    let responses = [
        denial_of_the_quickstart().await,
        denial_of_the_quick_start().await,
        with_slots_held(21).await,
        with_slots_held(17).await,
    ];
    let samples = Page::blocks_of(Kind::Response);
    assert!(!samples.is_empty());
    for sample in samples {
        let shown = lines(&sample.text);
        let is_sent = responses.iter().any(|response| shows(&shown, response));
        assert!(is_sent, "{}: {shown:#?}\nis none of {responses:#?}", sample.location);
    }
}
