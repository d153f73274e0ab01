//! `/healthz`: whether the gateway serves, which it does without its store too.

use serde_json::json;

use super::{RULES, ask_as, get};
use support::{patience::eventually, redis::RedisServer};

use crate::gateway::{fixture::Gateway, service::Service};

#[tokio::test]
async fn memory_is_always_up() {
    let gateway = Gateway::start(RULES, &[]);
    let healthy = json!({ "status": "ok", "store": "memory is up" });
    assert_eq!(get(&gateway, "/healthz").await, (200, healthy));
}

#[tokio::test]
async fn a_redis_that_fails_is_told_of_and_the_gateway_serves_on() {
    let (mut redis, service) = (RedisServer::start(), Service::start().await);
    let gateway = Gateway::between(&service, &redis, RULES, &[]);
    let address = format!("127.0.0.1:{}", redis.port());
    let healthy = json!({ "status": "ok", "store": format!("{address} is up") });
    eventually("Redis answers in time, on a busy machine too", async || {
        get(&gateway, "/healthz").await == (200, healthy.clone())
    })
    .await;

    redis.kill();
    eventually("the gateway has noticed", async || {
        assert_eq!(ask_as(&gateway, "alice").await, 200);
        get(&gateway, "/healthz").await.1["store"]
            .to_string()
            .contains("has been down")
    })
    .await;
    let (status, said) = get(&gateway, "/healthz").await;
    assert_eq!((status, &said["status"]), (200, &json!("store_failing")));
    let store = said["store"].as_str().unwrap();
    assert!(store.starts_with(&format!("{address} has been down for ")), "{store}");

    redis.restart();
    eventually("the gateway has noticed", async || {
        get(&gateway, "/healthz").await == (200, healthy.clone())
    })
    .await;
}

/// No request comes by which the gateway would notice.
#[tokio::test]
async fn a_redis_that_is_gone_is_told_of_though_nobody_asks_the_gateway() {
    let mut redis = RedisServer::start();
    let gateway = Gateway::start(RULES, &["--store", &redis.url()]);
    eventually("Redis answers in time, on a busy machine too", async || {
        get(&gateway, "/healthz").await.1["status"] == "ok"
    })
    .await;
    redis.kill();
    let (status, said) = get(&gateway, "/healthz").await;
    assert_eq!((status, &said["status"]), (200, &json!("store_failing")), "{said}");
    let address = format!("127.0.0.1:{}", redis.port());
    assert!(said["store"].as_str().unwrap().contains(&address), "{said}");
}

/// It is given a minute to decide about requests. Whoever asks for its health is not kept waiting for that.
#[tokio::test]
async fn a_redis_that_does_not_answer_is_told_of_before_its_deadline() {
    let redis = RedisServer::start();
    let gateway = Gateway::start(RULES, &["--store", &redis.url(), "--store-timeout", "60s"]);
    redis.freeze();
    let (status, said) = get(&gateway, "/healthz").await;
    let store = format!("127.0.0.1:{} has not answered within 500ms", redis.port());
    assert_eq!(
        (status, said),
        (200, json!({ "status": "store_failing", "store": store }))
    );
    redis.thaw();
    eventually("Redis answers again", async || {
        get(&gateway, "/healthz").await.1["status"] == "ok"
    })
    .await;
}
