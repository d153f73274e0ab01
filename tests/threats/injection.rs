//! Attackers whose identities contain Lua, the Redis protocol or log lines.

use axum::{Router, routing::get};
use tollgate::{
    Charge, FixedWindow, Key, Limit, Operation, QueryParam, Quota, RateLimitLayer, Store, Tier, redis::cmd,
};

use support::{
    algorithms::each_algorithm,
    http::Server,
    log,
    redis::{RedisServer, calls, query},
};

/// Each would escape from the context that it is inserted into, if it were not encoded.
const HOSTILE: [&str; 8] = [
    "'] redis.call('FLUSHALL') --",
    "\"); redis.call(\"FLUSHALL\") --[[",
    "]] redis.call('FLUSHALL') --",
    "a\r\n*1\r\n$8\r\nFLUSHALL\r\n",
    "a\nFLUSHALL\n",
    "a\0FLUSHALL",
    "*",
    "{a}[b-c]?\\",
];

/// Even in a verbatim key.
#[tokio::test]
async fn no_identity_becomes_code_or_a_command() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    query::<()>(redis, "SET canary alive");
    let store = server.store().build().unwrap();
    let mut expected = vec![b"canary".to_vec()];
    for algorithm in each_algorithm(Quota::per_day(5)) {
        let limit = Limit::new("hostile", algorithm);
        for text in HOSTILE {
            let charge = Charge::new(limit.clone(), Key::verbatim(text));
            let decision = store.apply(Operation::Acquire(charge.clone().into())).await.unwrap();
            assert!(decision.admits(), "{text:?}");
            let key = format!("rate_limit:{limit}:{text}").into_bytes();
            assert!(cmd("EXISTS").arg(&key).query::<bool>(redis).unwrap(), "{text:?}");
            expected.push(key);
        }
    }
    // No other key was written or deleted, and no other command ran.
    let mut found: Vec<Vec<u8>> = query(redis, "KEYS *");
    expected.sort();
    expected.dedup();
    found.sort();
    assert_eq!(found, expected);
    assert_eq!((calls(redis, "flushall"), calls(redis, "eval")), (0, 0));
}

#[tokio::test]
async fn a_log_event_is_one_line_whatever_a_client_sends() {
    log::listen();
    let redis = RedisServer::start();
    let store = redis.store().prefix("lines").cache_denials(false).build().unwrap();
    let layer = RateLimitLayer::new(
        Tier::new(
            "lines",
            FixedWindow::new(Quota::per_day(1)).anchored(),
            QueryParam::new("name"),
        ),
        store,
    );
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    let path = "/?name=a%0D%0A2026-11-16T12:00:00Z%20ERROR%20all%20is%20lost%1B%5B2J";
    assert_eq!(server.get(path).await.status, 200);
    // One event reports a denial, and one a key with an invalid value. The latter contains the key.
    assert_eq!(server.get(path).await.status, 429);
    let keys: Vec<String> = query(&mut redis.client(), "KEYS *");
    query::<()>(&mut redis.client(), &format!("SET {} garbage", keys[0]));
    assert_eq!(server.get(path).await.status, 200);
    let digest = Key::named("query/name", "a\r\n2026-11-16T12:00:00Z ERROR all is lost\u{1b}[2J").digest();
    let lines = log::take(|line| line.field("key") == digest || line.field("key").contains("lines:"));
    let logged: Vec<_> = lines.iter().map(|line| line.field("key").trim_matches('"')).collect();
    assert_eq!(logged, [&digest, &keys[0]]);
    assert!(keys[0].bytes().all(|byte| byte.is_ascii_graphic()), "{}", keys[0]);
}
