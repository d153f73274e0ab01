//! `/healthz` on the HTTP address, which a proxy can use for its health checks.

use axum::http::Method;
use serde_json::{Value, json};

use super::fixture::{LimitService, limit};
use support::{http::Reply, redis::RedisServer, wait::eventually};

fn rules() -> String {
    limit("all", 1, "key = 'global'")
}

/// The response at the HTTP address, which is that of the admin address.
async fn health(service: &LimitService) -> (u16, Value) {
    let reply = Reply::to(service.request(Method::GET, "/healthz")).await;
    assert_eq!(reply.header("content-type"), "application/json");
    (reply.status, reply.json())
}

#[tokio::test]
async fn it_is_that_of_the_admin_address() {
    let service = LimitService::start(&rules(), &[]);
    let healthy = json!({ "status": "ok", "store": "memory is up" });
    assert_eq!(health(&service).await, (200, healthy.clone()));
    assert_eq!(service.admin(Method::GET, "/healthz").await.json(), healthy);
    let head = Reply::to(service.request(Method::HEAD, "/healthz")).await;
    assert_eq!((head.status, &*head.body), (200, ""));
    let post = Reply::to(service.request(Method::POST, "/healthz")).await;
    assert_eq!((post.status, &*post.header("allow")), (405, "GET, HEAD"));
    // It charges no limit.
    assert_eq!(service.status_of("/").await, 200);
}

#[tokio::test]
async fn a_failing_redis_is_reported_while_the_service_keeps_answering() {
    let mut redis = RedisServer::start();
    let service = LimitService::with_redis(&redis, &rules(), &[]);
    let status = async || {
        let (status, body) = health(&service).await;
        (status, body["status"].as_str().unwrap().to_owned())
    };
    eventually("Redis answers in time, on a busy machine too", async || {
        status().await == (200, "ok".into())
    })
    .await;
    redis.kill();
    assert_eq!(status().await, (200, "store_failing".into()));
    assert_eq!(service.status_of("/").await, 200);
    redis.restart();
    eventually("the service has detected it", async || {
        status().await == (200, "ok".into())
    })
    .await;
}
