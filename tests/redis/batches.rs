//! Requests that travel together: each is answered as if it were alone.

use std::time::Duration;

use tokio::task::yield_now;
use tollgate::redis::Connection;
use tollgate::{
    Algorithm, Charge, Charges, Decision, FixedWindow, Key, Limit, Operation, Quota, RedisDecision, RedisStore,
    SlidingLog, Store, StoreError, TokenBucket,
};

use support::{
    patience::took,
    redis::{RedisServer, ask, begin, calls, keys},
};

fn acquire(name: &str, algorithm: impl Algorithm, key: &'static str, cost: u32) -> Operation {
    Operation::Acquire(
        Charge::new(Limit::new(name, algorithm), Key::new(key))
            .cost(cost)
            .into(),
    )
}

fn bucket(key: &'static str) -> Operation {
    acquire("bucket", TokenBucket::new(Quota::per_day(10)), key, 1)
}

/// A store with one lane: whatever comes while two calls are in flight, the leader's and the lane's, waits.
async fn store(server: &RedisServer, user: Option<&str>) -> RedisStore {
    let builder = server.store().pool_size(1);
    let builder = match user {
        Some(user) => builder.username(user).password("secret"),
        None => builder,
    };
    let store = builder.build().unwrap();
    assert!(store.apply(bucket("warm")).await.unwrap().admits());
    store
}

/// Two calls that stay in flight until Redis is let go on, so that whoever asks now waits.
async fn occupy(store: &RedisStore, redis: &mut Connection) -> [RedisDecision; 2] {
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut in_flight = [store.apply(bucket("first")), store.apply(bucket("first"))];
    for decision in &mut in_flight {
        begin(decision).await;
        yield_now().await;
    }
    in_flight
}

/// Sends these operations as one call, and returns what each was told.
async fn together(
    store: &RedisStore,
    redis: &mut Connection,
    operations: Vec<Operation>,
) -> Vec<Result<Decision, StoreError>> {
    let in_flight = occupy(store, redis).await;
    let mut waiting: Vec<_> = operations.into_iter().map(|operation| store.apply(operation)).collect();
    for decision in &mut waiting {
        begin(decision).await;
    }
    ask::<()>(redis, "CONFIG RESETSTAT");
    ask::<()>(redis, "CLIENT UNPAUSE");
    for decision in in_flight {
        _ = decision.await;
    }
    let mut answers = Vec::new();
    for decision in waiting {
        answers.push(decision.await);
    }
    answers
}

#[tokio::test]
async fn those_who_wait_share_a_call_and_are_answered_in_order() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = store(&server, None).await;
    let answers = together(&store, redis, (0..12).map(|_| bucket("key")).collect()).await;
    let admitted: Vec<bool> = answers.into_iter().map(|answer| answer.unwrap().admits()).collect();
    assert_eq!(admitted, (0..12).map(|n| n < 10).collect::<Vec<_>>());
    // The two that were in flight, and the one that carried twelve.
    assert_eq!(calls(redis, "evalsha"), 3);
}

#[tokio::test]
async fn a_charge_whose_command_is_forbidden_fails_alone() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    ask::<()>(redis, "ACL SETUSER limiter on >secret ~* +@all -rpush");
    let store = store(&server, Some("limiter")).await;
    let log = acquire("log", SlidingLog::new(Quota::per_day(10)), "key", 1);
    let mut both = Charges::from(Charge::new(
        Limit::new("window", FixedWindow::new(Quota::per_day(10))),
        Key::new("key"),
    ));
    let unwritable = Limit::new("log", SlidingLog::new(Quota::per_day(10)));
    both.push(Charge::new(unwritable, Key::new("other"))).unwrap();
    let answers = together(
        &store,
        redis,
        vec![bucket("a"), log, bucket("b"), Operation::Acquire(both)],
    )
    .await;
    assert_eq!(calls(redis, "evalsha"), 3);
    let told: Vec<_> = answers
        .iter()
        .map(|answer| answer.as_ref().map(|decision| decision.admits()))
        .collect();
    assert!(matches!(told[..], [Ok(true), Err(_), Ok(true), Err(_)]), "{told:?}");
    for error in answers.into_iter().filter_map(Result::err) {
        assert!(matches!(&error, StoreError::Refused { .. }), "{error:?}");
        assert!(error.to_string().contains("allow the user the commands"), "{error}");
    }
    let names = keys(redis).join(" ");
    assert!(!names.contains("sliding_log"), "{names}");
}

/// Redis refuses a whole call for one key that the user may not touch; the others are then sent without it.
#[tokio::test]
async fn a_charge_whose_key_is_forbidden_fails_alone() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    ask::<()>(redis, "ACL SETUSER limiter on >secret ~rate_limit:token_bucket:* +@all");
    let store = store(&server, Some("limiter")).await;
    let window = acquire("window", FixedWindow::new(Quota::per_day(10)), "key", 1);
    let answers = together(&store, redis, vec![bucket("a"), window, bucket("a")]).await;
    let left: Vec<_> = answers
        .iter()
        .map(|answer| {
            answer
                .as_ref()
                .ok()
                .map(|decision| decision.tiers()[0].verdict().remaining())
        })
        .collect();
    assert_eq!(left, [Some(9), None, Some(8)]);
    let error = answers[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("allow the user the commands"), "{error}");
}

#[tokio::test]
async fn a_full_redis_fails_who_charges_and_not_who_is_refused_or_asks() {
    let server = RedisServer::start_with(&["--maxmemory-policy", "noeviction"]);
    let redis = &mut server.client();
    let store = store(&server, None).await;
    ask::<()>(redis, "CONFIG SET maxmemory 1");
    let charge = |cost| acquire("bucket", TokenBucket::new(Quota::per_day(10)), "key", cost);
    let answers = together(&store, redis, [1, 11, 0].map(charge).into()).await;
    assert!(answers[0].as_ref().unwrap_err().to_string().contains("raise maxmemory"));
    assert_eq!(answers[1].as_ref().unwrap().outcome().name(), "impossible");
    assert!(answers[2].as_ref().unwrap().admits());
}

#[tokio::test]
async fn who_leaves_before_the_batch_is_sent_is_not_charged_and_holds_nobody_up() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = store(&server, None).await;
    let _in_flight = occupy(&store, redis).await;
    let (mut leaves, mut stays) = (store.apply(bucket("key")), store.apply(bucket("key")));
    begin(&mut leaves).await;
    begin(&mut stays).await;
    drop(leaves);
    ask::<()>(redis, "CLIENT UNPAUSE");
    assert_eq!(stays.await.unwrap().tiers()[0].verdict().remaining(), 9);
}

/// Each request has its own deadline, though they travel together.
#[tokio::test]
async fn who_waited_longer_runs_out_of_time_sooner() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = server
        .store()
        .pool_size(1)
        .deadline(Duration::from_secs(10))
        .build()
        .unwrap();
    assert!(store.apply(bucket("warm")).await.unwrap().admits());
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    tokio::time::pause();
    let mut decisions: Vec<_> = (0..4).map(|_| store.apply(bucket("key"))).collect();
    let start = tokio::time::Instant::now();
    for decision in &mut decisions {
        begin(decision).await;
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    for (seconds, decision) in (10..).zip(decisions) {
        let error = decision.await.unwrap_err();
        assert!(matches!(error, StoreError::Deadline { .. }), "{error:?}");
        took(start, Duration::from_secs(seconds));
    }
    tokio::time::resume();
    ask::<()>(redis, "CLIENT UNPAUSE");
}
