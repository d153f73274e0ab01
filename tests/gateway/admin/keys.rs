//! `/keys`: a key's state and its reset, on both stores.

use axum::http::Method;
use serde_json::{Value, json};
use tollgate::Key;

use super::{RULES, delete, get, request_as};
use support::{
    http::Reply,
    redis::{RedisServer, keys},
    wait::eventually,
};

use crate::gateway::{fixture::Gateway, service::Service};

/// Runs a test on a gateway with the memory store, and on one with Redis.
async fn on_both_stores(rules: &str, test: impl AsyncFn(&Gateway)) {
    test(&Gateway::start(rules, &[])).await;
    let (redis, service) = (RedisServer::start(), Service::start().await);
    test(&Gateway::with_redis(&service, &redis, rules, &[])).await;
}

/// The JSON of a key of the limit `user`, without `full_in_us`, which depends on the time of the request.
fn key_json(identity: &str, quota: &str, remaining: u32) -> Value {
    json!({
        "limit": "user",
        "identity": identity,
        "algorithm": "fixed_window",
        "quota": format!("{quota} per 315360000s"),
        "remaining": remaining,
        "full_in_us": Value::Null,
        "by_fallback": false,
    })
}

/// The status, whether the key is full, and the JSON without `hint` and `full_in_us`.
fn normalized((status, mut key): (u16, Value)) -> (u16, bool, Value) {
    key.as_object_mut().unwrap().remove("hint");
    let full_in = key["full_in_us"].take().as_u64().unwrap();
    assert!(full_in <= 315_360_000_000_000, "{full_in}");
    (status, full_in == 0, key)
}

#[tokio::test]
async fn get_returns_a_keys_state_without_changing_it() {
    on_both_stores(RULES, async |gateway: &Gateway| {
        let peek = async || normalized(get(gateway, "/keys/user/x-user-id:alice").await);
        assert_eq!(peek().await, (200, true, key_json("x-user-id:alice", "3", 3)));
        for left in [2, 1, 0] {
            assert_eq!(request_as(gateway, "alice").await, 200);
            for _ in 0..3 {
                assert_eq!(peek().await, (200, false, key_json("x-user-id:alice", "3", left)));
            }
        }
        assert_eq!(request_as(gateway, "alice").await, 429);
        assert_eq!(peek().await, (200, false, key_json("x-user-id:alice", "3", 0)));
        let other = normalized(get(gateway, "/keys/user/x-user-id:bob").await);
        assert_eq!(other, (200, true, key_json("x-user-id:bob", "3", 3)));
    })
    .await;
}

#[tokio::test]
async fn an_unused_identity_gets_a_hint_about_its_spelling() {
    on_both_stores(RULES, async |gateway: &Gateway| {
        let hint = "this identity is unused; write it as stored in Redis, like ip:192.0.2.1 or x-user-id:alice";
        let (used, unused) = ("/keys/user/x-user-id:alice", "/keys/user/alice");
        assert_eq!(request_as(gateway, "alice").await, 200);
        assert_eq!(get(gateway, used).await.1["hint"], Value::Null);
        assert_eq!(get(gateway, unused).await.1["hint"], hint);
        assert_eq!(delete(gateway, unused).await.1["hint"], hint);
        assert!(!gateway.log().contains("an operator reset a key"));
        assert_eq!(delete(gateway, used).await.1["hint"], Value::Null);
        assert_eq!(delete(gateway, used).await.1["hint"], hint);
        eventually("it is logged", async || {
            gateway.log().contains("an operator reset a key")
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn delete_resets_a_key_and_the_next_request_passes() {
    on_both_stores(RULES, async |gateway: &Gateway| {
        for user in ["alice", "bob"] {
            for status in [200, 200, 200, 429] {
                assert_eq!(request_as(gateway, user).await, status);
            }
        }
        let reset = normalized(delete(gateway, "/keys/user/x-user-id:alice").await);
        assert_eq!(reset, (200, true, key_json("x-user-id:alice", "3", 3)));
        // The full quota at once, and only this key's.
        for status in [200, 200, 200, 429] {
            assert_eq!(request_as(gateway, "alice").await, status);
        }
        assert_eq!(request_as(gateway, "bob").await, 429);
        let untouched = delete(gateway, "/keys/user/x-user-id:carol").await;
        assert_eq!(normalized(untouched), (200, true, key_json("x-user-id:carol", "3", 3)));
        let line = format!(
            "an operator reset a key limit=\"user\" key=\"{}\"",
            Key::new("x-user-id:alice").digest()
        );
        assert!(gateway.log().contains(&line), "{}", gateway.log());
    })
    .await;
}

#[tokio::test]
async fn a_reset_at_one_gateway_applies_at_all() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let [one, other] = [(); 2].map(|()| Gateway::with_redis(&service, &redis, RULES, &[]));
    for status in [200, 200, 200, 429] {
        assert_eq!(request_as(&other, "alice").await, status);
    }
    assert_eq!(keys(&mut redis.client()).len(), 1);
    assert_eq!(delete(&one, "/keys/user/x-user-id:alice").await.0, 200);
    assert_eq!(keys(&mut redis.client()), Vec::<String>::new());
    // The other gateway caches the denial for up to a second.
    eventually("it is admitted again", async || {
        request_as(&other, "alice").await == 200
    })
    .await;
    let peek = normalized(get(&one, "/keys/user/x-user-id:alice").await);
    assert_eq!(peek, (200, false, key_json("x-user-id:alice", "3", 2)));
}

#[tokio::test]
async fn a_key_is_read_by_the_limit_of_a_plan() {
    on_both_stores(RULES, async |gateway: &Gateway| {
        for left in [9, 8, 7, 6] {
            let request = gateway.request(Method::GET, "/").header("x-user-id", "alice");
            let reply = Reply::to(request.header("x-plan", "pro")).await;
            assert_eq!((reply.status, reply.remaining()), (200, left.to_string()));
        }
        let peek = normalized(get(gateway, "/keys/user/x-user-id:alice?plan=pro").await);
        assert_eq!(peek, (200, false, key_json("x-user-id:alice", "10", 6)));
        // The limit itself admits fewer than the plan has used.
        let peek = normalized(get(gateway, "/keys/user/x-user-id:alice").await);
        assert_eq!(peek, (200, false, key_json("x-user-id:alice", "3", 0)));
        let unknown = get(gateway, "/keys/user/x-user-id:alice?plan=gold").await;
        assert_eq!(
            unknown,
            (404, json!({ "message": "the limit \"user\" has no plan \"gold\"" }))
        );
        let reset = normalized(delete(gateway, "/keys/user/x-user-id:alice?plan=pro").await);
        assert_eq!(reset, (200, true, key_json("x-user-id:alice", "10", 10)));
        let peek = normalized(get(gateway, "/keys/user/x-user-id:alice").await);
        assert_eq!(peek, (200, true, key_json("x-user-id:alice", "3", 3)));
    })
    .await;
}

#[tokio::test]
async fn any_identity_can_be_read() {
    let limit = |name: &str, more: &str| {
        format!("[[limit]]\nname = '{name}'\nalgorithm = 'fixed_window'\nlimit = 9\nwindow = '3650d'\n{more}\n")
    };
    let rules = limit("route", "key = 'route'\npath = '/api/{*rest}'")
        + &limit("tenant", "key = 'query:tenant'")
        + &limit("parts", "key = ['route', 'ip', 'method']\npath = '/api/{*rest}'");
    on_both_stores(&rules, async |gateway: &Gateway| {
        for used in 1..=2 {
            assert_eq!(gateway.get("/api/a/b?tenant=acme,inc").await.status, 200);
            for path in [
                "route//api/<*rest>",
                "route/%2Fapi%2F%3C%2Arest%3E",
                "tenant/query/tenant:acme,inc",
                "tenant/query%2Ftenant%3Aacme%2Cinc",
                "parts//api/<*rest>:ip:127.0.0.1:method:GET",
            ] {
                let (status, key) = get(gateway, &format!("/keys/{path}")).await;
                assert_eq!((status, &key["remaining"]), (200, &json!(9 - used)), "{path}: {key}");
            }
        }
        assert_eq!(
            get(gateway, "/keys/route//api/<*rest>").await.1["identity"],
            "/api/<*rest>"
        );
    })
    .await;
}

#[tokio::test]
async fn unknown_limits_and_paths_are_a_404() {
    let other = "[[limit]]\nname = 'other'\nalgorithm = 'fixed_window'\nlimit = 3\nwindow = '3650d'\nkey = 'global'\n";
    let gateway = Gateway::start(&format!("{other}{RULES}"), &[]);
    let unknown = json!({ "message": "there is no limit \"nothing\"; the limits are other, user" });
    for path in ["/keys/nothing/global", "/keys/nothing/global?plan=pro"] {
        assert_eq!(get(&gateway, path).await, (404, unknown.clone()));
        assert_eq!(delete(&gateway, path).await, (404, unknown.clone()));
    }
    let message = "not found; the endpoints are /healthz, /metrics, /limits and /keys/<limit>/<identity>";
    for path in ["/", "/keys", "/keys/user", "/keys/user/", "/healthz/"] {
        assert_eq!(
            get(&gateway, path).await,
            (404, json!({ "message": message })),
            "{path}"
        );
    }
}
