//! Whoever makes up identities, as many as they like.

use axum::{Router, routing::get};
use tollgate::{
    ClientIp, Header, Key, Limit, ManualClock, MemoryStore, Quota, RateLimitLayer, SlidingLog, Store, TokenBucket,
};

use support::{
    http::Server,
    redis::{RedisServer, ask, keys},
};

const LIMIT: Quota = Quota::per_minute(10);

fn spend(store: &MemoryStore, limit: &Limit, user: impl ToString) -> bool {
    store
        .acquire(limit, &Key::named("user", user.to_string()), 1)
        .outcome()
        .admits()
}

#[test]
fn a_bucket_that_is_spent_outlives_a_flood_of_others() {
    let store = MemoryStore::builder().max_keys(1000).clock(ManualClock::at(0)).build();
    let limit = Limit::new("user", TokenBucket::new(LIMIT));
    let passed = (0..100).filter(|_| spend(&store, &limit, "alice"));
    assert_eq!(passed.count(), 10);
    let passed = (0..20_000).filter(|user| spend(&store, &limit, user));
    assert_eq!(passed.count(), 20_000);
    assert_eq!(store.len(), 1000);
    assert!(!spend(&store, &limit, "alice"));
}

/// What lasts longer than what is made up is forgotten last, whatever it is.
#[test]
fn a_long_window_outlives_a_flood_of_short_ones() {
    let store = MemoryStore::builder().max_keys(1000).clock(ManualClock::at(0)).build();
    let logins = Limit::new("login", SlidingLog::new(Quota::per_hour(3)));
    let pages = Limit::new("page", SlidingLog::new(LIMIT));
    assert_eq!((0..9).filter(|_| spend(&store, &logins, "alice")).count(), 3);
    assert_eq!((0..20_000).filter(|user| spend(&store, &pages, user)).count(), 20_000);
    assert!(!spend(&store, &logins, "alice"));
}

/// What one tier refuses adds nothing to the others.
#[tokio::test]
async fn an_address_adds_no_more_keys_than_it_may_send_requests() {
    let (redis, memory) = (RedisServer::start(), MemoryStore::new());
    by_user_and_address(redis.store().build().unwrap()).await;
    assert_eq!(keys(&mut redis.client()).len(), 5 + 1);
    by_user_and_address(memory.clone()).await;
    assert_eq!(memory.len(), 5 + 1);
}

/// A hundred users from one address, which may send five requests a day.
async fn by_user_and_address(store: impl Store) {
    let layer = RateLimitLayer::token_bucket("user", Quota::per_day(10), Header::new("x-user-id"), store).tier(
        "address",
        TokenBucket::new(Quota::per_day(5)),
        ClientIp::peer(),
    );
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    for user in 0..100 {
        let expected = if user < 5 { 200 } else { 429 };
        assert_eq!(server.get_as(&user.to_string()).await.status, expected);
    }
}

#[tokio::test]
async fn identities_of_any_length_take_the_same_little_room_in_redis_and_leave_by_themselves() {
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
        // What a request took has drained after six minutes, and with the next millisecond the key is gone.
        let left: i64 = ask(redis, &format!("PTTL {key}"));
        assert!((1..=360_001).contains(&left), "{left}");
    }
}

/// Whoever has the right to all that Redis holds can take it away, and the quota of everybody comes back once.
#[tokio::test]
async fn whoever_flushes_redis_gives_everybody_their_quota_back_once() {
    let redis = RedisServer::start();
    let store = redis.store().repeat_refusals(false).build().unwrap();
    let layer = RateLimitLayer::sliding_log("user", Quota::per_day(3), Header::new("x-user-id"), store);
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    for _ in 0..2 {
        let mut answers = Vec::new();
        for _ in 0..5 {
            answers.push(server.get_as("alice").await.status);
        }
        assert_eq!(answers, [200, 200, 200, 429, 429]);
        ask::<()>(&mut redis.client(), "FLUSHALL");
    }
}
