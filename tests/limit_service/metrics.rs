//! `/metrics`: exact counts of checks by answer.

use axum::http::Method;

use super::fixture::{LimitService, limit};
use support::{http::Reply, redis::RedisServer, wait::eventually};

#[tokio::test]
async fn checks_are_counted_by_answer() {
    let service = LimitService::start(&limit("user", 3, "key = 'header:x-user-id'"), &[]);
    let all = [
        "passed",
        "rate_limit_exceeded",
        "rate_limit_key_missing",
        "rate_limit_key_ambiguous",
        "bad_request",
        "method_not_allowed",
        "not_found",
        "rate_limiter_unavailable",
        "concurrency_limit_exceeded",
    ];
    let counts = async || {
        let mut counts = Vec::new();
        for answer in all {
            counts.push(service.answers(answer).await);
        }
        counts
    };
    assert_eq!(counts().await, [0.0; 9]);
    for _ in 0..5 {
        service.status_with(("x-user-id", "alice")).await;
    }
    let denied = service.check_at("/check?deny=403", "/").header("x-user-id", "alice");
    assert_eq!(Reply::to(denied).await.status, 403);
    assert_eq!(service.status_of("/").await, 400);
    let ambiguous = service
        .check("/")
        .header("x-user-id", "alice")
        .header("x-user-id", "bob");
    assert_eq!(Reply::to(ambiguous).await.json()["error"], "rate_limit_key_ambiguous");
    assert_eq!(service.status_of("/%zz").await, 400);
    assert_eq!(Reply::to(service.request(Method::PUT, "/check")).await.status, 405);
    assert_eq!(Reply::to(service.request(Method::GET, "/")).await.status, 404);
    // Health checks are not checks of requests.
    assert_eq!(Reply::to(service.request(Method::GET, "/healthz")).await.status, 200);
    assert_eq!(counts().await, [3.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(service.metric("service_store_up").await, 1.0);
    assert_eq!(service.metric("gateway_store_up").await, 0.0);
    assert_eq!(
        service
            .metric("service_requests_total{api=\"grpc\",answer=\"passed\"}")
            .await,
        0.0
    );
}

#[tokio::test]
async fn a_failed_store_is_counted() {
    let mut redis = RedisServer::start();
    let rules = limit("all", 10, "key = 'global'");
    let service = LimitService::with_redis(&redis, &rules, &["--on-store-failure", "closed"]);
    assert_eq!(service.status_of("/").await, 200);
    redis.kill();
    for _ in 0..5 {
        assert_eq!(service.status_of("/").await, 503);
    }
    assert_eq!(service.answers("passed").await, 1.0);
    assert_eq!(service.answers("rate_limiter_unavailable").await, 5.0);
    assert_eq!(service.metric("service_store_up").await, 0.0);
}

#[tokio::test]
async fn connections_are_counted_while_they_are_open() {
    let service = LimitService::start(&limit("all", 10, "key = 'global'"), &[]);
    let mut open = Vec::new();
    for count in [1.0, 2.0, 3.0] {
        open.push(service.connect().await);
        eventually("it is counted", async || {
            service.metric("service_connections").await == count
        })
        .await;
    }
    drop(open);
    eventually("they are closed", async || {
        service.metric("service_connections").await == 0.0
    })
    .await;
}
