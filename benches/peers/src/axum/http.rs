//! A server on Redis under a load generator: the whole way of a request, with a route for each side.

use std::{net::SocketAddr, time::Duration};

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{Header, HttpAnswers, RateLimitLayer};

use super::axum_limit;
use crate::{
    bench::{Bench, Pair},
    server::RedisServer,
    tier::never_refuses,
    wrk::load,
};

pub fn against_axum_limit(bench: &Bench) -> Pair {
    ours_against("axum-limit", bench)
}

pub fn against_plain(bench: &Bench) -> Pair {
    ours_against("plain", bench)
}

fn ours_against(other: &str, bench: &Bench) -> Pair {
    let redis = RedisServer::start();
    let address = bench.runtime.block_on(serve(&redis));
    bench.in_turn(|span| wrk(address, "ours", span), |span| wrk(address, other, span))
}

/// Serves on this process's runtime until that ends, which harms nobody once Redis is gone.
async fn serve(redis: &RedisServer) -> SocketAddr {
    let store = redis.store().build().expect("the settings are valid");
    let limit = RateLimitLayer::new("user", never_refuses(), Header::new("x-user-id"), store)
        .respond_with(HttpAnswers::new().without_ietf_headers());
    let app = Router::new()
        .route("/plain", get(async || "hello"))
        .route("/ours", get(async || "hello").layer(limit.fail_closed()))
        .merge(axum_limit::router("/axum-limit", &redis.url()).await);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// Requests a second by 64 connections. It is slow to start: what the others measure in one second takes two.
fn wrk(address: SocketAddr, route: &str, span: Duration) -> f64 {
    load(&format!("http://{address}/{route}"), 64, 2 * span).rate
}
