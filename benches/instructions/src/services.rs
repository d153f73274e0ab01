//! An axum router with different layers, called without a network.

use std::{
    future::Future,
    hint::black_box,
    net::SocketAddr,
    pin::pin,
    task::{Context, Poll, Waker},
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    routing::get,
};
use tollgate::{
    ClientIp, Global, HttpMethod, HttpResponder, ManualClock, MemoryStore, Quota, RateLimitLayer, Tier, TokenBucket,
};
use tower_service::Service;

pub(crate) const MEASURED_REQUESTS: u32 = 10_000;

/// Each has made a request before the measurement, so that its state is in the store.
const CLIENTS: u32 = 20_000;

pub(crate) fn run(service: &str) {
    let router = match service {
        "plain" => plain(),
        "x_headers" => plain().layer(one_tier().respond_with(HttpResponder::new().without_ietf_headers())),
        "default" => plain().layer(one_tier()),
        "three_tiers" => plain().layer(
            RateLimitLayer::sliding_counter("global", Quota::per_minute(100_000), Global, store())
                .tier(Tier::token_bucket("user", Quota::per_minute(100), ClientIp::peer()))
                .tier(Tier::sliding_log(
                    "expensive",
                    Quota::per_minute(10),
                    (ClientIp::peer(), HttpMethod),
                )),
        ),
        other => panic!("{other} is not one of plain, x_headers, default and three_tiers"),
    };
    // As axum::serve does once, so that the router does not apply its layers to every request.
    let mut service = router.with_state(());
    serve(&mut service, CLIENTS);
    serve_measured(&mut service);
}

fn plain() -> Router {
    Router::new().route("/", get(async || "hello"))
}

fn one_tier() -> RateLimitLayer<TokenBucket, ClientIp, MemoryStore> {
    RateLimitLayer::token_bucket("user", Quota::per_minute(100), ClientIp::peer(), store())
}

/// On a clock that stands still, so that every run is the same.
fn store() -> MemoryStore {
    MemoryStore::builder().clock(ManualClock::at(0)).build()
}

/// What callgrind counts: it finds the function by its name.
#[inline(never)]
fn serve_measured(service: &mut Router) {
    serve(service, MEASURED_REQUESTS);
}

#[inline(never)]
fn serve(service: &mut Router, requests: u32) {
    let mut context = Context::from_waker(Waker::noop());
    for client in 0..requests {
        let mut request = Request::new(Body::empty());
        let [_, _, third, fourth] = client.to_be_bytes();
        let peer = SocketAddr::from(([10, 0, third, fourth], 1234));
        request.extensions_mut().insert(ConnectInfo(peer));
        let response = match pin!(service.call(black_box(request))).poll(&mut context) {
            Poll::Ready(response) => response,
            Poll::Pending => panic!("the memory store decides without waiting"),
        };
        let response = response.unwrap_or_else(|error| match error {});
        assert!(response.status().is_success());
        black_box(response);
    }
}
