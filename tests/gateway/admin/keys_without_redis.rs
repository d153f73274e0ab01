//! `/keys` while Redis is down.

use serde_json::json;

use super::{RULES, delete, get, request_as};
use support::{redis::RedisServer, wait::eventually};

use crate::gateway::{fixture::Gateway, service::Service};

/// A gateway whose Redis is down, after it has detected that.
async fn without_redis(mode: &str) -> (Gateway, RedisServer, Service) {
    let (mut redis, service) = (RedisServer::start(), Service::start().await);
    let gateway = Gateway::with_redis(&service, &redis, RULES, &["--on-store-failure", mode]);
    redis.kill();
    eventually("the gateway has detected it", async || {
        request_as(&gateway, "other").await;
        get(&gateway, "/healthz").await.1["status"] == "store_failing"
    })
    .await;
    (gateway, redis, service)
}

#[tokio::test]
async fn keys_are_a_503_without_a_fallback() {
    for mode in ["open", "closed"] {
        let (gateway, redis, _service) = without_redis(mode).await;
        for (status, body) in [
            get(&gateway, "/keys/user/x-user-id:alice").await,
            delete(&gateway, "/keys/user/x-user-id:alice").await,
        ] {
            let error = body["message"].as_str().unwrap();
            assert!(error.contains(&format!("127.0.0.1:{}", redis.port())), "{error}");
            assert_eq!(status, 503, "{mode}");
        }
    }
}

#[tokio::test]
async fn keys_are_read_from_the_local_fallback() {
    let (gateway, mut redis, _service) = without_redis("local").await;
    for status in [200, 200] {
        assert_eq!(request_as(&gateway, "alice").await, status);
    }
    let (status, key) = get(&gateway, "/keys/user/x-user-id:alice").await;
    assert_eq!(
        (status, &key["remaining"], &key["by_fallback"]),
        (200, &json!(1), &json!(true))
    );
    // The key cannot be reset on Redis now, but it is in the fallback store.
    assert_eq!(delete(&gateway, "/keys/user/x-user-id:alice").await.0, 503);
    let (_, key) = get(&gateway, "/keys/user/x-user-id:alice").await;
    assert_eq!((&key["remaining"], &key["by_fallback"]), (&json!(3), &json!(true)));

    redis.restart();
    eventually("Redis is back", async || {
        get(&gateway, "/healthz").await.1["status"] == "ok"
    })
    .await;
    let (status, key) = get(&gateway, "/keys/user/x-user-id:alice").await;
    assert_eq!(
        (status, &key["remaining"], &key["by_fallback"]),
        (200, &json!(3), &json!(false))
    );
}
