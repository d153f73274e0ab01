//! Batching: each request of a batch gets the answer that it would get alone.

use std::time::Duration;

use tokio::task::yield_now;
use tollgate::redis::Connection;
use tollgate::{
    Algorithm, Charge, Charges, Decision, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisDecision,
    RedisStore, SlidingLog, Store, StoreError, TokenBucket,
};

use support::{
    redis::{RedisServer, calls, keys, poll_once, query},
    wait::assert_elapsed,
};

fn acquire(name: &str, algorithm: impl Algorithm, key: &'static str, cost: u32) -> Operation {
    Operation::Acquire(
        Charge::new(Limit::new(name, algorithm), Key::new(key))
            .with_cost(cost)
            .into(),
    )
}

fn bucket(key: &'static str) -> Operation {
    acquire("bucket", TokenBucket::new(Quota::per_day(10)), key, 1)
}

/// A store with one connection: requests are queued while two calls are in flight, one sent inline and one by the sender task.
async fn store(server: &RedisServer, user: Option<&str>) -> RedisStore {
    let builder = server.store().pool_size(1).max_calls_in_flight(2);
    let builder = match user {
        Some(user) => builder.username(user).password("secret"),
        None => builder,
    };
    let store = builder.build().unwrap();
    assert!(store.apply(bucket("warm")).await.unwrap().admits());
    store
}

/// Pauses Redis with two calls in flight, so that further requests are queued.
async fn occupy(store: &RedisStore, redis: &mut Connection) -> [RedisDecision; 2] {
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut in_flight = [store.apply(bucket("first")), store.apply(bucket("first"))];
    for decision in &mut in_flight {
        poll_once(decision).await;
        yield_now().await;
    }
    in_flight
}

/// Sends these operations in one batch.
async fn in_one_batch(
    store: &RedisStore,
    redis: &mut Connection,
    operations: Vec<Operation>,
) -> Vec<Result<Decision, StoreError>> {
    let in_flight = occupy(store, redis).await;
    let mut waiting: Vec<_> = operations.into_iter().map(|operation| store.apply(operation)).collect();
    for decision in &mut waiting {
        poll_once(decision).await;
    }
    query::<()>(redis, "CONFIG RESETSTAT");
    query::<()>(redis, "CLIENT UNPAUSE");
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
async fn queued_requests_share_a_call_and_are_answered_in_order() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = store(&server, None).await;
    let answers = in_one_batch(&store, redis, (0..12).map(|_| bucket("key")).collect()).await;
    let admitted: Vec<bool> = answers.into_iter().map(|answer| answer.unwrap().admits()).collect();
    assert_eq!(admitted, (0..12).map(|n| n < 10).collect::<Vec<_>>());
    // Two calls in flight, and one batch of twelve.
    assert_eq!(calls(redis, "evalsha"), 3);
}

#[tokio::test]
async fn acl_without_a_command_fails_only_the_request_that_needs_it() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    query::<()>(redis, "ACL SETUSER limiter on >secret ~* +@all -rpush");
    let store = store(&server, Some("limiter")).await;
    let log = acquire("log", SlidingLog::new(Quota::per_day(10)), "key", 1);
    let mut both = Charges::from(Charge::new(
        Limit::new("window", FixedWindow::new(Quota::per_day(10))),
        Key::new("key"),
    ));
    let unwritable = Limit::new("log", SlidingLog::new(Quota::per_day(10)));
    both.push(Charge::new(unwritable, Key::new("other"))).unwrap();
    let answers = in_one_batch(
        &store,
        redis,
        vec![bucket("a"), log, bucket("b"), Operation::Acquire(both)],
    )
    .await;
    assert_eq!(calls(redis, "evalsha"), 3);
    let admitted: Vec<_> = answers
        .iter()
        .map(|answer| answer.as_ref().map(|decision| decision.admits()))
        .collect();
    assert!(
        matches!(admitted[..], [Ok(true), Err(_), Ok(true), Err(_)]),
        "{admitted:?}"
    );
    for error in answers.into_iter().filter_map(Result::err) {
        assert!(matches!(&error, StoreError::Server { .. }), "{error:?}");
        assert!(error.to_string().contains("allow the user the commands"), "{error}");
    }
    let names = keys(redis).join(" ");
    assert!(!names.contains("sliding_log"), "{names}");
}

/// Redis rejects a whole batch that contains a denied key; the store then sends the other requests without it.
#[tokio::test]
async fn acl_without_a_key_fails_only_the_request_that_uses_it() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    query::<()>(redis, "ACL SETUSER limiter on >secret ~rate_limit:token_bucket:* +@all");
    let store = store(&server, Some("limiter")).await;
    let window = acquire("window", FixedWindow::new(Quota::per_day(10)), "key", 1);
    let answers = in_one_batch(&store, redis, vec![bucket("a"), window, bucket("a")]).await;
    let remaining: Vec<_> = answers
        .iter()
        .map(|answer| {
            answer
                .as_ref()
                .ok()
                .map(|decision| decision.tiers()[0].verdict().remaining())
        })
        .collect();
    assert_eq!(remaining, [Some(9), None, Some(8)]);
    let error = answers[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("allow the user the commands"), "{error}");
}

#[tokio::test]
async fn out_of_memory_fails_charges_but_not_denials_and_peeks() {
    let server = RedisServer::start_with(&["--maxmemory-policy", "noeviction"]);
    let redis = &mut server.client();
    let store = store(&server, None).await;
    query::<()>(redis, "CONFIG SET maxmemory 1");
    let charge = |cost| acquire("bucket", TokenBucket::new(Quota::per_day(10)), "key", cost);
    let answers = in_one_batch(&store, redis, [1, 11, 0].map(charge).into()).await;
    assert!(answers[0].as_ref().unwrap_err().to_string().contains("raise maxmemory"));
    assert_eq!(answers[1].as_ref().unwrap().outcome().name(), "impossible");
    assert!(answers[2].as_ref().unwrap().admits());
}

#[tokio::test]
async fn a_request_dropped_before_its_batch_is_sent_is_not_charged() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = store(&server, None).await;
    let _in_flight = occupy(&store, redis).await;
    let (mut dropped, mut kept) = (store.apply(bucket("key")), store.apply(bucket("key")));
    poll_once(&mut dropped).await;
    poll_once(&mut kept).await;
    drop(dropped);
    query::<()>(redis, "CLIENT UNPAUSE");
    assert_eq!(kept.await.unwrap().tiers()[0].verdict().remaining(), 9);
}

#[tokio::test]
async fn each_request_of_a_batch_has_its_own_deadline() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = server
        .store()
        .pool_size(1)
        .max_calls_in_flight(2)
        .deadline(Duration::from_secs(10))
        .build()
        .unwrap();
    assert!(store.apply(bucket("warm")).await.unwrap().admits());
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    tokio::time::pause();
    let mut decisions: Vec<_> = (0..4).map(|_| store.apply(bucket("key"))).collect();
    let start = tokio::time::Instant::now();
    for decision in &mut decisions {
        poll_once(decision).await;
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    for (seconds, decision) in (10..).zip(decisions) {
        let error = decision.await.unwrap_err();
        assert!(matches!(error, StoreError::Deadline { .. }), "{error:?}");
        assert_elapsed(start, Duration::from_secs(seconds));
    }
    tokio::time::resume();
    query::<()>(redis, "CLIENT UNPAUSE");
}

/// Lists of entries that are no log at 20, in which an entry is 10 at most before it: not a time, too large, out of order.
const CORRUPT_LOGS: [&str; 12] = [
    "garbage",
    "14 15 garbage",
    "garbage 15 16",
    "14 garbage 16",
    "14 1.5 16",
    "14 -3 16",
    "14 99999999999999999999 16",
    "1 2 garbage 16",
    "15 1 2 16",
    "15 1 1 1 1 16",
    "15 18 500 16",
    "1 16 2 15 garbage 17",
];

/// Every request gets a decision, the other keys of the batch are not affected, and the log contains what was admitted.
#[tokio::test]
async fn a_corrupt_log_affects_only_its_key_and_loses_no_admission_of_the_batch() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = server.store().pool_size(1).clock(ManualClock::at(20)).build().unwrap();
    let log = SlidingLog::new(Quota::new(8, Duration::from_micros(10)));
    let victim = "rate_limit:sliding_log:log:10:victim";
    for corrupt in CORRUPT_LOGS {
        for costs in [[1, 1, 1], [2, 5, 3], [5, 3, 4], [4, 3, 8], [1, 8, 8]] {
            query::<()>(redis, "FLUSHALL");
            assert!(store.apply(bucket("warm")).await.unwrap().admits());
            query::<()>(redis, &format!("RPUSH {victim} {corrupt}"));
            let operations = [
                acquire("log", log, "neighbour", 1),
                acquire("log", log, "victim", costs[0]),
                bucket("neighbour"),
                acquire("log", log, "victim", costs[1]),
                acquire("log", log, "neighbour", 1),
                acquire("log", log, "victim", costs[2]),
                bucket("neighbour"),
            ];
            let answers = in_one_batch(&store, redis, operations.into()).await;
            let answers: Vec<Decision> = answers
                .into_iter()
                .map(|answer| answer.unwrap_or_else(|error| panic!("{corrupt}, {costs:?}: {error}")))
                .collect();
            let remaining = [0, 2, 4, 6].map(|index: usize| answers[index].tiers()[0].verdict().remaining());
            assert_eq!(remaining, [7, 9, 6, 8], "{corrupt}, {costs:?}");
            let victims = costs.into_iter().zip([1, 3, 5].map(|index: usize| &answers[index]));
            let admitted = victims.filter(|(_, answer)| answer.admits()).map(|(cost, _)| cost);
            let entries: Vec<String> = query(redis, &format!("LRANGE {victim} 0 -1"));
            let added = entries.iter().filter(|entry| *entry == "20").count();
            assert_eq!(added as u32, admitted.sum::<u32>(), "{corrupt}, {costs:?}: {entries:?}");
        }
    }
}
