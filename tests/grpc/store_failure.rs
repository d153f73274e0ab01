//! Failure modes: a layer whose store cannot decide.

use tollgate::{FixedWindow, Global, ManualClock, Quota, RateLimitLayer, RedisStore};
use tonic::Code;

use support::redis::RedisServer;

use crate::grpc::fixture::{Client, HealthService, NOTHING, NOW, Server};

/// A layer whose Redis is killed after one call. The returned server reserves the port.
async fn failing() -> (RateLimitLayer<FixedWindow, Global, RedisStore>, RedisServer) {
    let mut redis = RedisServer::start();
    let store = redis.store().clock(ManualClock::at(NOW)).build().unwrap();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(10), Global, store);
    let server = Server::start(HealthService::default().router().layer(layer.clone())).await;
    let limits = r#"10 9 660 | "api";q=10;w=60 | "api";r=9;t=45"#;
    assert_eq!(
        Client::of(&server).check().await.all(),
        (Code::Ok, "-".into(), limits.into())
    );
    redis.kill();
    (layer, redis)
}

#[tokio::test]
async fn fail_closed_returns_unavailable() {
    let (layer, _redis) = failing().await;
    let server = Server::start(HealthService::default().router().layer(layer.fail_closed())).await;
    let client = Client::of(&server);
    for _ in 0..3 {
        let reply = client.check().await;
        assert_eq!(reply.all(), (Code::Unavailable, "1000".into(), NOTHING.into()));
        assert_eq!(reply.message, "The rate limiter cannot be reached. Please retry.");
    }
}

#[tokio::test]
async fn fail_open_admits_calls_unchecked() {
    let (layer, _redis) = failing().await;
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let client = Client::of(&server);
    for _ in 0..20 {
        assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), NOTHING.into()));
    }
}
