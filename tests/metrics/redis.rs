//! Metrics of the Redis store: calls, the requests in a call, and the requests that need none.

use tokio::{task::yield_now, time};
use tollgate::{Charge, Key, Limit, Operation, Quota, RedisDecision, RedisStore, Store, StoreError, TokenBucket};

use support::{
    redis::{DEADLINE, RedisServer, calls, poll_once, query},
    wait::{stop_clock, yield_until},
};

use crate::recorder::{Samples, TestRecorder};

fn charge(limit: &str, key: &'static str) -> Operation {
    let bucket = TokenBucket::new(Quota::per_day(2));
    Operation::Acquire(Charge::new(Limit::new(limit, bucket), Key::new(key)).into())
}

async fn send(store: &RedisStore, key: &'static str) -> RedisDecision {
    let mut decision = store.apply(charge("user", key));
    poll_once(&mut decision).await;
    yield_now().await;
    decision
}

/// With one connection, at most two calls are in flight. Further requests wait, and share the next call.
#[tokio::test]
async fn waiting_requests_share_one_batch() {
    let recorded = TestRecorder::start();
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = server.store().pool_size(1).max_calls_in_flight(2).build().unwrap();
    assert!(store.apply(charge("user", "warm")).await.unwrap().admits());
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut pending = Vec::new();
    for key in ["leads", "follows", "a", "b", "c", "d", "e"] {
        pending.push(send(&store, key).await);
    }
    query::<()>(redis, "CLIENT UNPAUSE");
    for decision in pending {
        assert!(decision.await.unwrap().admits());
    }
    // The first call, the two in flight, and the batch of waiting requests.
    assert_eq!(recorded.values("tollgate_batch_size")[""], [1.0, 1.0, 1.0, 5.0]);
}

#[tokio::test]
async fn each_request_to_redis_is_timed_once() {
    let recorded = TestRecorder::start();
    let mut server = RedisServer::start();
    let store = server.store().build().unwrap();
    // Redis denies the third request. The denial cache answers for a second, and the clock is paused here.
    let still = stop_clock();
    for _ in 0..2 {
        assert!(store.apply(charge("user", "alice")).await.unwrap().admits());
    }
    assert!(!store.apply(charge("user", "alice")).await.unwrap().admits());
    for _ in 0..4 {
        assert!(!store.apply(charge("user", "alice")).await.unwrap().admits());
    }
    still.end().await;
    time::resume();
    server.kill();
    let mut failed = 0;
    yield_until(async || {
        assert!(store.apply(charge("user", "bob")).await.is_err());
        failed += 1;
        !store.health().is_up()
    })
    .await;
    // A request that fails fast is not timed: it would make Redis look fast.
    for _ in 0..4 {
        let failed_fast = store.apply(charge("user", "bob")).await;
        assert!(matches!(failed_fast, Err(StoreError::CircuitOpen { .. })));
    }
    let times = recorded.values("tollgate_store_seconds");
    let counted = ["answered", "failed"].map(|outcome| times[&format!("outcome={outcome}")].len());
    assert_eq!((counted, times.len()), ([3, failed], 2));
    let mut times = times.values().flatten();
    assert!(times.all(|time| (0.0..10.0).contains(time)));
}

#[tokio::test]
async fn a_cancelled_request_is_timed_too() {
    let recorded = TestRecorder::start();
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    assert!(store.apply(charge("user", "warm")).await.unwrap().admits());
    query::<()>(&mut server.client(), "CLIENT PAUSE 600000 WRITE");
    drop(send(&store, "cancelled").await);
    let times = recorded.values("tollgate_store_seconds");
    assert_eq!(
        (times["outcome=answered"].len(), times["outcome=cancelled"].len()),
        (1, 1)
    );
}

#[tokio::test]
async fn a_cached_denial_is_counted_under_the_exhausted_limit() {
    let recorded = TestRecorder::start();
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    let redis = &mut server.client();
    assert!(store.apply(charge("user", "warm")).await.unwrap().admits());
    for (limit, repeated) in [("exhausted", 5), ("other", 2)] {
        let before = calls(redis, "evalsha");
        // Redis admits two requests and denies one. The denial is cached for a second, and the clock is paused here.
        let still = stop_clock();
        for _ in 0..3 {
            store.apply(charge(limit, "alice")).await.unwrap();
        }
        for _ in 0..repeated {
            assert!(!store.apply(charge(limit, "alice")).await.unwrap().admits());
        }
        still.end().await;
        time::resume();
        assert_eq!(calls(redis, "evalsha"), before + 3, "{limit}");
    }
    let repeated = [("limit=exhausted".to_owned(), 5.0), ("limit=other".to_owned(), 2.0)];
    assert_eq!(
        recorded.counted("tollgate_cached_denials_total"),
        Samples::from(repeated)
    );
}

#[tokio::test]
async fn shed_requests_are_counted() {
    let recorded = TestRecorder::start();
    shed_three_requests().await;
    assert_eq!(recorded.counted("tollgate_shed_requests_total")[""], 3.0);
}

/// Two calls are in flight for more than half of the deadline: then the time left is too short for the requests in the queue.
pub(crate) async fn shed_three_requests() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = server.store().pool_size(1).max_calls_in_flight(2).build().unwrap();
    assert!(store.apply(charge("user", "warm")).await.unwrap().admits());
    let clock = stop_clock();
    // The round trip of the first call is no longer recent.
    time::advance(2 * DEADLINE).await;
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut pending = Vec::new();
    for key in ["first", "second", "third", "fourth", "fifth"] {
        pending.push(send(&store, key).await);
    }
    time::advance(DEADLINE * 3 / 5).await;
    query::<()>(redis, "CLIENT UNPAUSE");
    let (mut decided, mut shed) = (0, 0);
    for decision in pending {
        match decision.await {
            Ok(_) => decided += 1,
            Err(StoreError::Overloaded { .. }) => shed += 1,
            Err(error) => panic!("{error}"),
        }
    }
    clock.end().await;
    time::resume();
    assert_eq!((decided, shed), (2, 3));
}
