//! `/keys` while there is no Redis to ask.

use serde_json::json;

use super::{RULES, ask_as, delete, get};
use support::{patience::eventually, redis::RedisServer};

use crate::gateway::{fixture::Gateway, service::Service};

/// A gateway whose Redis is gone, and that has noticed.
async fn without_redis(mode: &str) -> (Gateway, RedisServer, Service) {
    let (mut redis, service) = (RedisServer::start(), Service::start().await);
    let gateway = Gateway::between(&service, &redis, RULES, &["--on-store-failure", mode]);
    redis.kill();
    eventually("it has noticed", async || {
        ask_as(&gateway, "somebody").await;
        get(&gateway, "/healthz").await.1["status"] == "store_failing"
    })
    .await;
    (gateway, redis, service)
}

#[tokio::test]
async fn nobody_knows_how_a_key_stands_where_only_redis_counts() {
    for mode in ["open", "closed"] {
        let (gateway, redis, _service) = without_redis(mode).await;
        for (status, said) in [
            get(&gateway, "/keys/user/x-user-id:alice").await,
            delete(&gateway, "/keys/user/x-user-id:alice").await,
        ] {
            let error = said["message"].as_str().unwrap();
            assert!(error.contains(&format!("127.0.0.1:{}", redis.port())), "{error}");
            assert_eq!(status, 503, "{mode}");
        }
    }
}

#[tokio::test]
async fn a_gateway_that_counts_for_itself_tells_what_it_has_counted() {
    let (gateway, mut redis, _service) = without_redis("local").await;
    for status in [200, 200] {
        assert_eq!(ask_as(&gateway, "alice").await, status);
    }
    let (status, key) = get(&gateway, "/keys/user/x-user-id:alice").await;
    assert_eq!(
        (status, &key["remaining"], &key["by_fallback"]),
        (200, &json!(1), &json!(true))
    );
    // What Redis may hold of it cannot be given back now; what the gateway has counted is.
    assert_eq!(delete(&gateway, "/keys/user/x-user-id:alice").await.0, 503);
    let (_, key) = get(&gateway, "/keys/user/x-user-id:alice").await;
    assert_eq!((&key["remaining"], &key["by_fallback"]), (&json!(3), &json!(true)));

    redis.restart();
    eventually("it is back", async || {
        get(&gateway, "/healthz").await.1["status"] == "ok"
    })
    .await;
    let (status, key) = get(&gateway, "/keys/user/x-user-id:alice").await;
    assert_eq!(
        (status, &key["remaining"], &key["by_fallback"]),
        (200, &json!(3), &json!(false))
    );
}
