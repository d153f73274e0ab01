//! The sample responses of the documentation are what the layers respond.

use std::{fs, net::SocketAddr};

use axum::{Router, body::Body, extract::Request, extract::connect_info::MockConnectInfo, routing::get};
use http_body_util::BodyExt;
use support::project::root;
use tollgate::{
    ClientIp, Global, Header, ManualClock, MemoryStore, Micros, Quota, RateLimitLayer, SlidingCounter, Tier,
};
use tower::ServiceExt;

/// The lines of the only sample response in a page.
fn sample(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let samples: Vec<_> = text.split("```text\nHTTP/1.1 ").skip(1).collect();
    assert_eq!(samples.len(), 1, "{page}");
    let sample = samples[0].split("```").next().unwrap();
    sample.trim_end().lines().map(str::to_owned).collect()
}

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

/// Asserts that both have the same lines. The order of headers has no meaning.
fn assert_same(mut sample: Vec<String>, mut response: Vec<String>) {
    assert_eq!((sample.first(), sample.last()), (response.first(), response.last()));
    sample.sort();
    response.sort();
    assert_eq!(sample, response);
}

#[tokio::test]
async fn the_readme_shows_a_denial_of_the_quickstart() {
    let user = Header::new("x-user-id").label("user").or(ClientIp::peer());
    let counter = |limit| SlidingCounter::new(Quota::per_minute(limit));
    let store = store_at(1_794_717_551_200_000);
    let layer = RateLimitLayer::sliding_counter("global", Quota::per_minute(10_000), Global, store)
        .tier(Tier::new("user", counter(100), user.clone()))
        .tier(Tier::new("expensive", counter(10), user));
    let app = Router::new()
        .route("/", get(async || "that took some work\n"))
        .layer(layer);
    assert_same(sample("README.md"), response(app, 11).await);
}

#[tokio::test]
async fn the_quick_start_shows_a_denial_of_its_service() {
    let store = store_at(1_794_717_600_000_000);
    let layer = RateLimitLayer::token_bucket("hello", Quota::per_minute(5), ClientIp::peer(), store);
    let app = Router::new().route("/", get(async || "hello\n")).layer(layer);
    assert_same(sample("docs/guide/quick_start.md"), response(app, 6).await);
}
