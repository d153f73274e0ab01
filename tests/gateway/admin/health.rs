//! `/healthz`: the gateway is healthy without its store too, and reports the store's state.

use serde_json::json;

use super::{RULES, get, request_as};
use support::{redis::RedisServer, wait::eventually};

use crate::gateway::{fixture::Gateway, service::Service};

#[tokio::test]
async fn the_memory_store_is_always_up() {
    let gateway = Gateway::start(RULES, &[]);
    let healthy = json!({ "status": "ok", "store": "memory is up" });
    assert_eq!(get(&gateway, "/healthz").await, (200, healthy));
}

#[tokio::test]
async fn a_failing_redis_is_reported_while_the_gateway_keeps_serving() {
    let (mut redis, service) = (RedisServer::start(), Service::start().await);
    let gateway = Gateway::with_redis(&service, &redis, RULES, &[]);
    let address = format!("127.0.0.1:{}", redis.port());
    let healthy = json!({
        "status": "ok",
        "store": format!("{address} is up"),
        "on_store_failure": "open: requests are admitted unchecked while it fails",
    });
    eventually("Redis answers in time, on a busy machine too", async || {
        get(&gateway, "/healthz").await == (200, healthy.clone())
    })
    .await;

    redis.kill();
    eventually("the gateway has detected it", async || {
        assert_eq!(request_as(&gateway, "alice").await, 200);
        get(&gateway, "/healthz").await.1["store"]
            .to_string()
            .contains("has been down")
    })
    .await;
    let (status, body) = get(&gateway, "/healthz").await;
    assert_eq!((status, &body["status"]), (200, &json!("store_failing")));
    let store = body["store"].as_str().unwrap();
    assert!(store.starts_with(&format!("{address} has been down for ")), "{store}");

    redis.restart();
    eventually("the gateway has detected it", async || {
        get(&gateway, "/healthz").await == (200, healthy.clone())
    })
    .await;
}

/// No request arrives that would detect the failure.
#[tokio::test]
async fn a_killed_redis_is_reported_without_traffic() {
    let mut redis = RedisServer::start();
    let gateway = Gateway::start(RULES, &["--store", &redis.url()]);
    eventually("Redis answers in time, on a busy machine too", async || {
        get(&gateway, "/healthz").await.1["status"] == "ok"
    })
    .await;
    redis.kill();
    let (status, body) = get(&gateway, "/healthz").await;
    assert_eq!((status, &body["status"]), (200, &json!("store_failing")), "{body}");
    let address = format!("127.0.0.1:{}", redis.port());
    assert!(body["store"].as_str().unwrap().contains(&address), "{body}");
}

/// The store timeout of requests is a minute; the health check does not wait for it.
#[tokio::test]
async fn an_unresponsive_redis_is_reported_before_the_store_timeout() {
    let redis = RedisServer::start();
    let mode = ["--on-store-failure", "local"];
    let store = ["--store", &redis.url(), "--store-timeout", "60s"];
    let gateway = Gateway::start(RULES, &[&store[..], &mode].concat());
    redis.freeze();
    let (status, body) = get(&gateway, "/healthz").await;
    let store = format!("127.0.0.1:{} did not respond within 500ms", redis.port());
    assert_eq!(
        (status, body),
        (
            200,
            json!({
                "status": "store_failing",
                "store": store,
                "on_store_failure": "local: each process counts in memory while it fails",
            })
        )
    );
    redis.thaw();
    eventually("Redis answers again", async || {
        get(&gateway, "/healthz").await.1["status"] == "ok"
    })
    .await;
}
