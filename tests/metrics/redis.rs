//! How Redis does: calls, the requests in them, and those that need none.

use tokio::{task::yield_now, time};
use tollgate::{Charge, Key, Limit, Operation, Quota, RedisDecision, RedisStore, Store, StoreError, TokenBucket};

use support::{
    patience::{stand_still, yielding},
    redis::{RedisServer, ask, begin, calls},
};

use crate::recorded::{Figures, Recorded};

fn charge(limit: &str, key: &'static str) -> Operation {
    let bucket = TokenBucket::new(Quota::per_day(2));
    Operation::Acquire(Charge::new(Limit::new(limit, bucket), Key::new(key)).into())
}

async fn send(store: &RedisStore, key: &'static str) -> RedisDecision {
    let mut decision = store.apply(charge("user", key));
    begin(&mut decision).await;
    yield_now().await;
    decision
}

/// With one lane there are two calls in flight at most: who comes then, waits, and goes with the others.
#[tokio::test]
async fn a_batch_is_as_large_as_those_who_wait_are_many() {
    let recorded = Recorded::start();
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = server.store().pool_size(1).build().unwrap();
    assert!(store.apply(charge("user", "warm")).await.unwrap().admits());
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut asked = Vec::new();
    for key in ["leads", "follows", "a", "b", "c", "d", "e"] {
        asked.push(send(&store, key).await);
    }
    ask::<()>(redis, "CLIENT UNPAUSE");
    for decision in asked {
        assert!(decision.await.unwrap().admits());
    }
    // The first of all, the two in flight, and those who waited.
    assert_eq!(recorded.values("tollgate_batch_size")[""], [1.0, 1.0, 1.0, 5.0]);
}

#[tokio::test]
async fn each_request_that_waits_for_redis_is_timed_once() {
    let recorded = Recorded::start();
    let mut server = RedisServer::start();
    let store = server.store().build().unwrap();
    // Redis refuses the third. Who comes within a second does not wait for it, and no time goes by here.
    let still = stand_still();
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
    yielding(async || {
        assert!(store.apply(charge("user", "bob")).await.is_err());
        failed += 1;
        !store.health().is_up()
    })
    .await;
    // Nobody waits for a Redis that is not asked: that would look as if it were quick.
    for _ in 0..4 {
        let turned_away = store.apply(charge("user", "bob")).await;
        assert!(matches!(turned_away, Err(StoreError::Down { .. })));
    }
    let times = recorded.values("tollgate_store_seconds");
    let counted = ["answered", "failed"].map(|outcome| times[&format!("outcome={outcome}")].len());
    assert_eq!((counted, times.len()), ([3, failed], 2));
    let mut times = times.values().flatten();
    assert!(times.all(|time| (0.0..10.0).contains(time)));
}

#[tokio::test]
async fn whoever_leaves_has_waited_too() {
    let recorded = Recorded::start();
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    assert!(store.apply(charge("user", "warm")).await.unwrap().admits());
    ask::<()>(&mut server.client(), "CLIENT PAUSE 600000 WRITE");
    drop(send(&store, "leaves").await);
    let times = recorded.values("tollgate_store_seconds");
    assert_eq!((times["outcome=answered"].len(), times["outcome=left"].len()), (1, 1));
}

#[tokio::test]
async fn a_refusal_that_is_repeated_is_counted_under_the_limit_that_is_spent() {
    let recorded = Recorded::start();
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    let redis = &mut server.client();
    assert!(store.apply(charge("user", "warm")).await.unwrap().admits());
    for (limit, repeated) in [("spent", 5), ("other", 2)] {
        let before = calls(redis, "evalsha");
        // Two are admitted, and one is refused by Redis. It is repeated for a second, and no time goes by here.
        let still = stand_still();
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
    let repeated = [("limit=spent".to_owned(), 5.0), ("limit=other".to_owned(), 2.0)];
    assert_eq!(
        recorded.counted("tollgate_repeated_refusals_total"),
        Figures::from(repeated)
    );
}
