//! A server on Redis under a load generator, end to end, with a route for each side.

use std::{net::SocketAddr, time::Duration};

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{Global, Header, HttpResponder, RateLimitLayer, Tier};

use super::axum_limit;
use crate::{
    runner::{Pair, Runner},
    server::RedisServer,
    tier::never_denies,
    wrk::load,
};

pub fn against_axum_limit(runner: &Runner) -> Pair {
    routes("ours", "axum-limit", runner)
}

pub fn against_plain(runner: &Runner) -> Pair {
    routes("ours", "plain", runner)
}

/// A limit for everyone, whose units are leased.
pub fn leased_against_plain(runner: &Runner) -> Pair {
    routes("leased", "plain", runner)
}

fn routes(ours: &str, other: &str, runner: &Runner) -> Pair {
    let redis = RedisServer::start();
    let address = runner.runtime.block_on(serve(&redis));
    runner.alternate(|span| wrk(address, ours, span), |span| wrk(address, other, span))
}

/// Serves on the runtime of this process, until it ends.
async fn serve(redis: &RedisServer) -> SocketAddr {
    let store = redis.store().build().expect("valid settings");
    let per_user = Tier::new("user", never_denies(), Header::new("x-user-id"));
    let limit = RateLimitLayer::new(per_user, store.clone()).respond_with(HttpResponder::new().without_ietf_headers());
    let everyone = Tier::new("everyone", never_denies(), Global).lease(Duration::from_millis(100));
    let leased = RateLimitLayer::new(everyone, store).respond_with(HttpResponder::new().without_ietf_headers());
    let app = Router::new()
        .route("/plain", get(async || "hello"))
        .route("/ours", get(async || "hello").layer(limit.fail_closed()))
        .route("/leased", get(async || "hello").layer(leased.fail_closed()))
        .merge(axum_limit::router("/axum-limit", &redis.url()).await);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound listener");
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// Requests per second over 64 connections. wrk starts slowly, so it runs twice as long as the other measurements.
fn wrk(address: SocketAddr, route: &str, span: Duration) -> f64 {
    load(&format!("http://{address}/{route}"), 64, 2 * span).rate
}
