//! `/keys`: how one key stands, and its quota back, by both stores.

use axum::http::Method;
use serde_json::{Value, json};
use tollgate::Key;

use super::{RULES, ask_as, delete, get};
use support::{
    http::Reply,
    patience::eventually,
    redis::{RedisServer, keys},
};

use crate::gateway::{fixture::Gateway, service::Service};

/// Tries it by a gateway that counts in memory, and by one that counts on Redis.
async fn by_both(rules: &str, works: impl AsyncFn(&Gateway)) {
    works(&Gateway::start(rules, &[])).await;
    let (redis, service) = (RedisServer::start(), Service::start().await);
    works(&Gateway::between(&service, &redis, rules, &[])).await;
}

/// What is said of a key of the limit by user. When it is full again depends on when it was asked.
fn user(identity: &str, quota: &str, remaining: u32) -> Value {
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

/// Whether a key is full already, and everything else that is said of it but a hint.
fn apart((status, mut key): (u16, Value)) -> (u16, bool, Value) {
    key.as_object_mut().unwrap().remove("hint");
    let full_in = key["full_in_us"].take().as_u64().unwrap();
    assert!(full_in <= 315_360_000_000_000, "{full_in}");
    (status, full_in == 0, key)
}

#[tokio::test]
async fn a_look_tells_how_a_key_stands_and_changes_nothing() {
    by_both(RULES, async |gateway: &Gateway| {
        let look = async || apart(get(gateway, "/keys/user/x-user-id:alice").await);
        assert_eq!(look().await, (200, true, user("x-user-id:alice", "3", 3)));
        for left in [2, 1, 0] {
            assert_eq!(ask_as(gateway, "alice").await, 200);
            for _ in 0..3 {
                assert_eq!(look().await, (200, false, user("x-user-id:alice", "3", left)));
            }
        }
        assert_eq!(ask_as(gateway, "alice").await, 429);
        assert_eq!(look().await, (200, false, user("x-user-id:alice", "3", 0)));
        let other = apart(get(gateway, "/keys/user/x-user-id:bob").await);
        assert_eq!(other, (200, true, user("x-user-id:bob", "3", 3)));
    })
    .await;
}

#[tokio::test]
async fn an_identity_that_has_used_nothing_may_be_another_and_that_is_said() {
    by_both(RULES, async |gateway: &Gateway| {
        let hint = "nothing is used by this identity: is it written as Redis has it, like ip:192.0.2.1 or \
                    x-user-id:alice?";
        let (used, unused) = ("/keys/user/x-user-id:alice", "/keys/user/alice");
        assert_eq!(ask_as(gateway, "alice").await, 200);
        assert_eq!(get(gateway, used).await.1["hint"], Value::Null);
        assert_eq!(get(gateway, unused).await.1["hint"], hint);
        assert_eq!(delete(gateway, unused).await.1["hint"], hint);
        assert!(!gateway.log().contains("a key has its quota back"));
        assert_eq!(delete(gateway, used).await.1["hint"], Value::Null);
        assert_eq!(delete(gateway, used).await.1["hint"], hint);
        eventually("it is logged", async || {
            gateway.log().contains("a key has its quota back")
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_key_has_its_quota_back_and_the_next_request_passes() {
    by_both(RULES, async |gateway: &Gateway| {
        for user in ["alice", "bob"] {
            for status in [200, 200, 200, 429] {
                assert_eq!(ask_as(gateway, user).await, status);
            }
        }
        let forgiven = apart(delete(gateway, "/keys/user/x-user-id:alice").await);
        assert_eq!(forgiven, (200, true, user("x-user-id:alice", "3", 3)));
        // All of it, at once, and nobody else's.
        for status in [200, 200, 200, 429] {
            assert_eq!(ask_as(gateway, "alice").await, status);
        }
        assert_eq!(ask_as(gateway, "bob").await, 429);
        let untouched = delete(gateway, "/keys/user/x-user-id:nobody").await;
        assert_eq!(apart(untouched), (200, true, user("x-user-id:nobody", "3", 3)));
        let told = format!(
            "a key has its quota back limit=\"user\" key=\"{}\"",
            Key::new("x-user-id:alice").digest()
        );
        assert!(gateway.log().contains(&told), "{}", gateway.log());
    })
    .await;
}

#[tokio::test]
async fn what_is_given_back_at_one_gateway_is_back_at_all() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    let [one, other] = [(); 2].map(|()| Gateway::between(&service, &redis, RULES, &[]));
    for status in [200, 200, 200, 429] {
        assert_eq!(ask_as(&other, "alice").await, status);
    }
    assert_eq!(keys(&mut redis.client()).len(), 1);
    assert_eq!(delete(&one, "/keys/user/x-user-id:alice").await.0, 200);
    assert_eq!(keys(&mut redis.client()), Vec::<String>::new());
    // It repeats what it was told, for a second at most.
    eventually("it is admitted again", async || ask_as(&other, "alice").await == 200).await;
    let look = apart(get(&one, "/keys/user/x-user-id:alice").await);
    assert_eq!(look, (200, false, user("x-user-id:alice", "3", 2)));
}

#[tokio::test]
async fn a_key_is_looked_at_by_a_plan() {
    by_both(RULES, async |gateway: &Gateway| {
        for left in [9, 8, 7, 6] {
            let request = gateway.request(Method::GET, "/").header("x-user-id", "alice");
            let reply = Reply::to(request.header("x-plan", "pro")).await;
            assert_eq!((reply.status, reply.remaining()), (200, left.to_string()));
        }
        let look = apart(get(gateway, "/keys/user/x-user-id:alice?plan=pro").await);
        assert_eq!(look, (200, false, user("x-user-id:alice", "10", 6)));
        // By the limit itself, that is more than there is.
        let look = apart(get(gateway, "/keys/user/x-user-id:alice").await);
        assert_eq!(look, (200, false, user("x-user-id:alice", "3", 0)));
        let unknown = get(gateway, "/keys/user/x-user-id:alice?plan=gold").await;
        assert_eq!(
            unknown,
            (404, json!({ "message": "the limit \"user\" has no plan \"gold\"" }))
        );
        let forgiven = apart(delete(gateway, "/keys/user/x-user-id:alice?plan=pro").await);
        assert_eq!(forgiven, (200, true, user("x-user-id:alice", "10", 10)));
        let look = apart(get(gateway, "/keys/user/x-user-id:alice").await);
        assert_eq!(look, (200, true, user("x-user-id:alice", "3", 3)));
    })
    .await;
}

#[tokio::test]
async fn any_identity_can_be_asked_for() {
    let limit = |name: &str, more: &str| {
        format!("[[limit]]\nname = '{name}'\nalgorithm = 'fixed_window'\nlimit = 9\nwindow = '3650d'\n{more}\n")
    };
    let rules = limit("route", "key = 'route'\npath = '/api/{*rest}'")
        + &limit("tenant", "key = 'query:tenant'")
        + &limit("parts", "key = ['route', 'ip', 'method']\npath = '/api/{*rest}'");
    by_both(&rules, async |gateway: &Gateway| {
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
async fn what_is_not_there_is_told_apart_from_what_is_unused() {
    let other = "[[limit]]\nname = 'other'\nalgorithm = 'fixed_window'\nlimit = 3\nwindow = '3650d'\nkey = 'global'\n";
    let gateway = Gateway::start(&format!("{other}{RULES}"), &[]);
    let unknown = json!({ "message": "there is no limit \"nothing\": there are other, user" });
    for path in ["/keys/nothing/global", "/keys/nothing/global?plan=pro"] {
        assert_eq!(get(&gateway, path).await, (404, unknown.clone()));
        assert_eq!(delete(&gateway, path).await, (404, unknown.clone()));
    }
    let there_are = "there is nothing here: there are /healthz, /metrics, /limits and /keys/<limit>/<identity>";
    for path in ["/", "/keys", "/keys/user", "/keys/user/", "/healthz/"] {
        assert_eq!(
            get(&gateway, path).await,
            (404, json!({ "message": there_are })),
            "{path}"
        );
    }
}
