//! A limiter whose Redis is killed, with and without a fallback store.

use tollgate::{CallKey, Fallback, Limiter, ManualClock, MemoryStore, RedisStore, Tier};

use support::{
    each_store::NOW,
    redis::RedisServer,
    wait::{with_timeout, yield_until},
};

use crate::limiter::{SECOND, alice, bob, expect_decision, one_per_10s, remaining, summary};

struct Failing {
    redis: RedisServer,
    store: RedisStore,
    memory: MemoryStore,
    clock: ManualClock,
}

fn failing() -> Failing {
    let (redis, clock) = (RedisServer::start(), ManualClock::at(NOW));
    Failing {
        store: redis.store().clock(clock.clone()).build().unwrap(),
        memory: MemoryStore::builder().clock(clock.clone()).build(),
        redis,
        clock,
    }
}

#[tokio::test]
async fn without_a_fallback_every_operation_is_an_error() {
    let Failing { mut redis, store, .. } = failing();
    let limiter = Limiter::new(Tier::new("api", one_per_10s(), CallKey), store);
    let mut charged = expect_decision(limiter.check(&alice()).await);
    let [refund, settle] = [
        charged.take_receipt(),
        expect_decision(limiter.check(&bob()).await).take_receipt(),
    ];
    redis.kill();
    assert!(limiter.check(&alice()).await.is_err());
    assert!(limiter.peek(&alice()).await.is_err());
    assert!(limiter.wait(&alice(), 60 * SECOND).await.is_err());
    assert!(limiter.refund(refund.unwrap()).await.is_err());
    assert!(limiter.settle(settle.unwrap()).await.is_err());
    assert!(limiter.reset(&alice()).await.is_err());
}

#[tokio::test]
async fn the_fallback_decides_and_accepts_its_own_receipts() {
    let Failing {
        mut redis,
        store,
        memory,
        ..
    } = failing();
    let limiter = Limiter::new(
        Tier::new("api", one_per_10s(), CallKey),
        Fallback::new(store, memory.clone()),
    );
    let by_redis = expect_decision(limiter.check(&alice()).await);
    assert!(!by_redis.is_by_fallback());
    redis.kill();
    // The fallback store starts empty.
    let mut by_memory = expect_decision(limiter.check(&alice()).await);
    assert_eq!((by_memory.is_by_fallback(), remaining(&by_memory)), (true, vec![0]));
    assert_eq!(summary(limiter.check(&alice()).await), (false, vec![0]));
    let receipt = by_memory.take_receipt().unwrap();
    assert_eq!(summary(limiter.refund(receipt).await), (true, vec![1]));
    let receipt = expect_decision(limiter.check(&alice()).await).take_receipt().unwrap();
    assert_eq!(summary(limiter.settle(receipt.settled(0)).await), (true, vec![1]));
    assert!(memory.is_empty());
}

#[tokio::test]
async fn a_call_that_waits_when_redis_is_killed_waits_for_the_fallback() {
    let Failing {
        mut redis,
        store,
        memory,
        clock,
    } = failing();
    let limiter = Limiter::new(Tier::new("api", one_per_10s(), CallKey), Fallback::new(store, memory));
    assert_eq!(summary(limiter.check(&alice()).await), (true, vec![0]));
    let wait = || {
        let limiter = limiter.clone();
        tokio::spawn(async move { expect_decision(limiter.wait(&alice(), 60 * SECOND).await) })
    };
    let first = wait();
    yield_until(async || clock.pending_sleeps() == 1).await;
    let second = wait();
    yield_until(async || clock.pending_sleeps() == 2).await;
    redis.kill();
    clock.advance(10 * SECOND);
    let first = with_timeout(first).await.unwrap();
    assert!(first.admits() && first.is_by_fallback());
    yield_until(async || clock.pending_sleeps() == 1).await;
    clock.advance(10 * SECOND);
    let second = with_timeout(second).await.unwrap();
    assert_eq!((second.is_by_fallback(), second.now()), (true, NOW + 20_000_000));
    // Redis restarts without its data.
    redis.restart();
    yield_until(async || !expect_decision(limiter.peek(&alice()).await).is_by_fallback()).await;
    assert_eq!(summary(limiter.check(&alice()).await), (true, vec![0]));
}
