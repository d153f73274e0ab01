//! The fallback to a memory store while Redis fails.
use std::time::Duration;

use support::{port::Port, redis::RedisServer, wait::eventually};
use tollgate::{
    Algorithm, Charge, Charges, Concurrency, Decision, Fallback, FixedWindow, Key, LeakyBucket, Limit, Limiter,
    ManualClock, MemoryStore, Operation, Quota, RedisStore, Store, StoreError, TokenBucket,
};

/// A Redis with a memory fallback, on one manual clock.
struct Both {
    redis: RedisServer,
    memory: MemoryStore,
    store: Fallback<RedisStore>,
}

fn both() -> Both {
    let (redis, clock) = (RedisServer::start(), ManualClock::at(0));
    let memory = MemoryStore::builder().clock(clock.clone()).build();
    let store = Fallback::new(redis.store().clock(clock).build().unwrap(), memory.clone());
    Both { redis, memory, store }
}

fn charge(algorithm: impl Algorithm) -> Charge {
    Charge::new(Limit::new("name", algorithm), Key::new("key"))
}

fn bucket() -> Charge {
    charge(TokenBucket::new(Quota::per_minute(10)))
}

fn remaining(decision: &Decision) -> u64 {
    decision.tiers()[0].verdict().remaining()
}

impl Both {
    async fn acquire(&self, charges: impl Into<Charges>) -> Decision {
        self.store.apply(Operation::Acquire(charges.into())).await.unwrap()
    }
}

#[tokio::test]
async fn memory_decides_while_redis_is_down_and_starts_empty() {
    let mut both = both();
    for n in 1..=4 {
        let decision = both.acquire(bucket()).await;
        assert_eq!((decision.is_by_fallback(), remaining(&decision)), (false, 10 - n));
    }
    assert!(both.memory.is_empty());
    both.redis.kill();
    for n in 1..=10 {
        let decision = both.acquire(bucket()).await;
        assert!(decision.admits() && !decision.is_unchecked());
        assert_eq!((decision.is_by_fallback(), remaining(&decision)), (true, 10 - n));
    }
    let denied = both.acquire(bucket()).await;
    assert!(denied.is_by_fallback() && !denied.admits());
    assert_eq!(denied.retry_after(), Some(Duration::from_secs(6)));
}

#[tokio::test]
async fn a_charge_is_refunded_by_the_store_that_made_it() {
    let mut both = both();
    let mut by_redis = both.acquire(bucket()).await;
    let mut settled = both.acquire(bucket().with_cost(3)).await;
    let settle = Operation::Settle(settled.take_receipt().unwrap().settled(1));
    assert_eq!(remaining(&both.store.apply(settle).await.unwrap()), 8);

    both.redis.kill();
    let mut refunded = both.acquire(bucket().with_cost(5)).await;
    let mut settled = both.acquire(bucket().with_cost(3)).await;
    let refund = Operation::Refund(refunded.take_receipt().unwrap());
    assert_eq!(remaining(&both.store.apply(refund).await.unwrap()), 7);
    let settle = Operation::Settle(settled.take_receipt().unwrap().settled(4));
    assert_eq!(remaining(&both.store.apply(settle).await.unwrap()), 6);

    // Memory does not refund a charge of Redis.
    let refund = Operation::Refund(by_redis.take_receipt().unwrap());
    let error = both.store.apply(refund).await.unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }), "{error:?}");
    assert_eq!(remaining(&both.acquire(bucket().with_cost(0)).await), 6);
}

#[tokio::test]
async fn a_leaky_bucket_queues_in_memory() {
    let mut both = both();
    both.redis.kill();
    let queue = || charge(LeakyBucket::new(Quota::per_second(10)));
    let first = both.acquire(queue()).await;
    let mut second = both.acquire(queue()).await;
    assert_eq!(first.delay(), Duration::ZERO);
    assert_eq!(second.delay(), Duration::from_millis(100));
    let refund = Operation::Refund(second.take_receipt().unwrap());
    both.store.apply(refund).await.unwrap();
    assert_eq!(both.acquire(queue()).await.delay(), Duration::from_millis(100));
}

#[tokio::test]
async fn a_reset_applies_to_both_stores() {
    let mut both = both();
    both.acquire(bucket().with_cost(10)).await;
    let reset = || Operation::Reset(bucket().into());
    let Ok(_) = both
        .memory
        .apply(Operation::Acquire(bucket().with_cost(10).into()))
        .await;
    assert_eq!(remaining(&both.store.apply(reset()).await.unwrap()), 10);
    assert!(both.memory.is_empty());
    // The reset fails because Redis is down, but applies to memory.
    both.redis.kill();
    both.acquire(bucket().with_cost(10)).await;
    assert!(both.store.apply(reset()).await.is_err());
    assert_eq!(remaining(&both.acquire(bucket()).await), 9);
}

#[tokio::test]
async fn the_fallback_charges_all_tiers_or_none() {
    let port = Port::free();
    let unreachable = RedisStore::connect(&format!("redis://127.0.0.1:{}", port.number())).unwrap();
    let store = Fallback::new(unreachable, MemoryStore::builder().clock(ManualClock::at(0)).build());
    let tiers = || {
        let window = Limit::new("window", FixedWindow::new(Quota::per_day(2)).anchored());
        let mut charges = Charges::from(bucket());
        charges.push(Charge::new(window, Key::new("key"))).unwrap();
        Operation::Acquire(charges)
    };
    for (admits, expected) in [(true, [9, 1]), (true, [8, 0]), (false, [8, 0]), (false, [8, 0])] {
        let decision = store.apply(tiers()).await.unwrap();
        let remaining: Vec<_> = decision.tiers().iter().map(|tier| tier.verdict().remaining()).collect();
        assert_eq!((decision.admits(), &remaining[..]), (admits, &expected[..]));
    }
}

#[tokio::test]
async fn a_full_wait_queue_rejects_with_the_decision_of_the_fallback() {
    let (port, clock) = (Port::free(), ManualClock::at(0));
    let unreachable = RedisStore::builder().url(&format!("redis://127.0.0.1:{}", port.number()));
    let memory = MemoryStore::builder().clock(clock.clone()).build();
    let store = Fallback::new(unreachable.clock(clock.clone()).build().unwrap(), memory);
    let limiter = Limiter::token_bucket("name", Quota::per_hour(1), store).max_waiters(1);
    let (key, two_hours) = (Key::new("key"), Duration::from_secs(7200));
    assert!(limiter.check(&key).await.unwrap().admits());
    let head = limiter.wait(&key, two_hours);
    let queued = eventually("a request is queued", async || clock.pending_sleeps() > 0);
    let mut head = std::pin::pin!(head);
    tokio::select! {
        decision = &mut head => panic!("the request was not queued: {decision:?}"),
        () = queued => {}
    }
    let rejected = limiter.wait(&key, two_hours).await.unwrap();
    assert!(!rejected.admits() && rejected.is_by_fallback());
}

/// Queued requests wait on the primary store's clock, regardless of which store decided.
#[test]
fn the_clock_is_that_of_the_primary_store() {
    let redis = RedisStore::builder().clock(ManualClock::at(1)).build().unwrap();
    let memory = MemoryStore::builder().clock(ManualClock::at(2)).build();
    assert_eq!(Fallback::new(redis, memory).clock().now(), 1);
}

/// And Redis learns of a release during the outage when it is back.
#[tokio::test]
async fn slots_are_released_by_the_store_that_holds_them() {
    let mut both = both();
    let slots = || charge(Concurrency::new(2));
    let free = async |store: &Fallback<RedisStore>| {
        let peek = store.apply(Operation::Peek(slots().with_cost(0).into())).await.unwrap();
        (peek.is_by_fallback(), remaining(&peek))
    };
    let [mut first, _second] = [both.acquire(slots()).await, both.acquire(slots()).await];
    assert_eq!(free(&both.store).await, (false, 0));
    both.redis.kill();
    let mut by_memory = both.acquire(slots()).await;
    assert!(by_memory.admits() && by_memory.is_by_fallback());
    let release = Operation::Refund(first.take_receipt().unwrap());
    assert!(both.store.apply(release).await.is_err());
    assert_eq!(free(&both.store).await, (true, 1));
    let release = Operation::Refund(by_memory.take_receipt().unwrap());
    assert_eq!(remaining(&both.store.apply(release).await.unwrap()), 2);
    both.redis.restart();
    // Redis is empty at first. The node then tells it of the slot that is still held, and only of that.
    eventually("the other slot is held", async || free(&both.store).await == (false, 1)).await;
}
