//! A limiter whose Redis is gone, with and without memory to fall back on.

use tollgate::{Fallback, Limiter, ManualClock, MemoryStore, RedisStore};

use support::{
    each_store::NOW,
    patience::{patiently, yielding},
    redis::RedisServer,
};

use crate::limiter::{SECOND, alice, bob, decided, one, remaining, told};

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
async fn without_one_what_redis_cannot_do_is_an_error() {
    let Failing { mut redis, store, .. } = failing();
    let limiter = Limiter::new("api", one(), store);
    let mut charged = decided(limiter.check(&alice()).await);
    let [refund, settle] = [
        charged.take_receipt(),
        decided(limiter.check(&bob()).await).take_receipt(),
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
async fn with_one_memory_decides_and_knows_its_own_receipts() {
    let Failing {
        mut redis,
        store,
        memory,
        ..
    } = failing();
    let limiter = Limiter::new("api", one(), Fallback::new(store, memory.clone()));
    let by_redis = decided(limiter.check(&alice()).await);
    assert!(!by_redis.is_by_fallback());
    redis.kill();
    // Memory starts from nothing.
    let mut by_memory = decided(limiter.check(&alice()).await);
    assert_eq!((by_memory.is_by_fallback(), remaining(&by_memory)), (true, vec![0]));
    assert_eq!(told(limiter.check(&alice()).await), (false, vec![0]));
    let receipt = by_memory.take_receipt().unwrap();
    assert_eq!(told(limiter.refund(receipt).await), (true, vec![1]));
    let receipt = decided(limiter.check(&alice()).await).take_receipt().unwrap();
    assert_eq!(told(limiter.settle(receipt.settled(0)).await), (true, vec![1]));
    assert!(memory.is_empty());
}

#[tokio::test]
async fn who_waits_when_redis_dies_waits_for_memory() {
    let Failing {
        mut redis,
        store,
        memory,
        clock,
    } = failing();
    let limiter = Limiter::new("api", one(), Fallback::new(store, memory));
    assert_eq!(told(limiter.check(&alice()).await), (true, vec![0]));
    let wait = || {
        let limiter = limiter.clone();
        tokio::spawn(async move { decided(limiter.wait(&alice(), 60 * SECOND).await) })
    };
    let first = wait();
    yielding(async || clock.waiting() == 1).await;
    let second = wait();
    yielding(async || clock.waiting() == 2).await;
    redis.kill();
    clock.advance(10 * SECOND);
    let first = patiently(first).await.unwrap();
    assert!(first.admits() && first.is_by_fallback());
    yielding(async || clock.waiting() == 1).await;
    clock.advance(10 * SECOND);
    let second = patiently(second).await.unwrap();
    assert_eq!((second.is_by_fallback(), second.now()), (true, NOW + 20_000_000));
    // Redis is back, and has forgotten everything.
    redis.restart();
    yielding(async || !decided(limiter.peek(&alice()).await).is_by_fallback()).await;
    assert_eq!(told(limiter.check(&alice()).await), (true, vec![0]));
}
