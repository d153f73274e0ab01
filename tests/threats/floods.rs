//! Attackers that invent any number of identities.

use axum::{Router, routing::get};
use tollgate::{
    ClientIp, Header, Key, Limit, ManualClock, MemoryStore, Quota, RateLimitLayer, SlidingLog, Store, Tier, TokenBucket,
};

use support::{
    http::Server,
    redis::{RedisServer, keys, query},
};

const LIMIT: Quota = Quota::per_minute(10);

fn is_admitted(store: &MemoryStore, limit: &Limit, user: impl ToString) -> bool {
    store
        .acquire(limit, &Key::named("user", user.to_string()), 1)
        .outcome()
        .admits()
}

#[test]
fn an_exhausted_bucket_survives_a_flood_of_other_keys() {
    let store = MemoryStore::builder().max_keys(1000).clock(ManualClock::at(0)).build();
    let limit = Limit::new("user", TokenBucket::new(LIMIT));
    let passed = (0..100).filter(|_| is_admitted(&store, &limit, "alice"));
    assert_eq!(passed.count(), 10);
    let passed = (0..20_000).filter(|user| is_admitted(&store, &limit, user));
    assert_eq!(passed.count(), 20_000);
    assert_eq!(store.len(), 1000);
    assert!(!is_admitted(&store, &limit, "alice"));
}

/// The store evicts the keys that expire first.
#[test]
fn a_long_window_survives_a_flood_of_short_ones() {
    let store = MemoryStore::builder().max_keys(1000).clock(ManualClock::at(0)).build();
    let logins = Limit::new("login", SlidingLog::new(Quota::per_hour(3)));
    let pages = Limit::new("page", SlidingLog::new(LIMIT));
    assert_eq!((0..9).filter(|_| is_admitted(&store, &logins, "alice")).count(), 3);
    assert_eq!(
        (0..20_000).filter(|user| is_admitted(&store, &pages, user)).count(),
        20_000
    );
    assert!(!is_admitted(&store, &logins, "alice"));
}

/// A request that one tier denies adds no keys in the others.
#[tokio::test]
async fn an_address_adds_no_more_keys_than_its_limit() {
    let (redis, memory) = (RedisServer::start(), MemoryStore::new());
    by_user_and_address(redis.store().build().unwrap()).await;
    assert_eq!(keys(&mut redis.client()).len(), 5 + 1);
    by_user_and_address(memory.clone()).await;
    assert_eq!(memory.len(), 5 + 1);
}

/// A hundred users from one address, which is limited to five requests per day.
async fn by_user_and_address(store: impl Store) {
    let layer = RateLimitLayer::token_bucket("user", Quota::per_day(10), Header::new("x-user-id"), store)
        .tier(Tier::token_bucket("address", Quota::per_day(5), ClientIp::peer()));
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    for user in 0..100 {
        let expected = if user < 5 { 200 } else { 429 };
        assert_eq!(server.get_as(&user.to_string()).await.status, expected);
    }
}

#[tokio::test]
async fn identities_of_any_length_have_short_keys_in_redis_that_expire() {
    let redis = RedisServer::start();
    let store = redis.store().build().unwrap();
    let layer = RateLimitLayer::token_bucket("user", Quota::per_hour(10), Header::new("x-user-id"), store);
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    for user in 0..100 {
        let name = format!("{user}{}", "x".repeat(8000));
        assert_eq!(server.get_as(&name).await.status, 200);
    }
    let redis = &mut redis.client();
    let written = keys(redis);
    assert_eq!(written.len(), 100);
    for key in written {
        let digest = key.strip_prefix("rate_limit:token_bucket:user:3600000000:x-user-id:#");
        assert_eq!(digest.map(str::len), Some(32), "{key}");
        // The charge drains within six minutes, and the key expires a millisecond later.
        let left: i64 = query(redis, &format!("PTTL {key}"));
        assert!((1..=360_001).contains(&left), "{left}");
    }
}

/// Every client gets its quota back once per flush.
#[tokio::test]
async fn flushing_redis_resets_every_quota_once() {
    let redis = RedisServer::start();
    let store = redis.store().cache_denials(false).build().unwrap();
    let layer = RateLimitLayer::sliding_log("user", Quota::per_day(3), Header::new("x-user-id"), store);
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    for _ in 0..2 {
        let mut statuses = Vec::new();
        for _ in 0..5 {
            statuses.push(server.get_as("alice").await.status);
        }
        assert_eq!(statuses, [200, 200, 200, 429, 429]);
        query::<()>(&mut redis.client(), "FLUSHALL");
    }
}
