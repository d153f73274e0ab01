//! A store that fails, and memory that stands in for it.
use std::time::Duration;

use support::{patience::eventually, port::Port, redis::RedisServer};
use tollgate::{
    Algorithm, Charge, Charges, Decision, Fallback, FixedWindow, Key, LeakyBucket, Limit, Limiter, ManualClock,
    MemoryStore, Operation, Quota, RedisStore, Store, StoreError, TokenBucket,
};

/// A Redis, and memory for when it is gone, on one clock that stands still.
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

fn charge(rule: impl Algorithm) -> Charge {
    Charge::new(Limit::new("name", rule), Key::new("key"))
}

fn bucket() -> Charge {
    charge(TokenBucket::new(Quota::per_minute(10)))
}

fn left(decision: &Decision) -> u64 {
    decision.tiers()[0].verdict().remaining()
}

impl Both {
    async fn acquire(&self, charges: impl Into<Charges>) -> Decision {
        self.store.apply(Operation::Acquire(charges.into())).await.unwrap()
    }
}

#[tokio::test]
async fn memory_decides_while_the_store_cannot_and_starts_from_nothing() {
    let mut both = both();
    for n in 1..=4 {
        let decision = both.acquire(bucket()).await;
        assert_eq!((decision.is_by_fallback(), left(&decision)), (false, 10 - n));
    }
    assert!(both.memory.is_empty());
    both.redis.kill();
    for n in 1..=10 {
        let decision = both.acquire(bucket()).await;
        assert!(decision.admits() && !decision.is_unchecked());
        assert_eq!((decision.is_by_fallback(), left(&decision)), (true, 10 - n));
    }
    let refused = both.acquire(bucket()).await;
    assert!(refused.is_by_fallback() && !refused.admits());
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(6)));
}

#[tokio::test]
async fn who_charged_it_gives_it_back() {
    let mut both = both();
    let mut by_redis = both.acquire(bucket()).await;
    let mut settled = both.acquire(bucket().cost(3)).await;
    let settle = Operation::Settle(settled.take_receipt().unwrap().settled(1));
    assert_eq!(left(&both.store.apply(settle).await.unwrap()), 8);

    both.redis.kill();
    let mut refunded = both.acquire(bucket().cost(5)).await;
    let mut settled = both.acquire(bucket().cost(3)).await;
    let refund = Operation::Refund(refunded.take_receipt().unwrap());
    assert_eq!(left(&both.store.apply(refund).await.unwrap()), 7);
    let settle = Operation::Settle(settled.take_receipt().unwrap().settled(4));
    assert_eq!(left(&both.store.apply(settle).await.unwrap()), 6);

    // What Redis charged, memory knows nothing of.
    let refund = Operation::Refund(by_redis.take_receipt().unwrap());
    let error = both.store.apply(refund).await.unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }), "{error:?}");
    assert_eq!(left(&both.acquire(bucket().cost(0)).await), 6);
}

#[tokio::test]
async fn a_place_in_a_queue_is_memorys_too() {
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
async fn a_reset_is_for_both() {
    let mut both = both();
    both.acquire(bucket().cost(10)).await;
    let reset = || Operation::Reset(bucket().into());
    let Ok(_) = both.memory.apply(Operation::Acquire(bucket().cost(10).into())).await;
    assert_eq!(left(&both.store.apply(reset()).await.unwrap()), 10);
    assert!(both.memory.is_empty());
    // Redis is not there to forget, and whoever asked is told; memory has forgotten.
    both.redis.kill();
    both.acquire(bucket().cost(10)).await;
    assert!(both.store.apply(reset()).await.is_err());
    assert_eq!(left(&both.acquire(bucket()).await), 9);
}

#[tokio::test]
async fn tiers_are_charged_all_or_none_in_memory_as_well() {
    let port = Port::free();
    let nowhere = RedisStore::connect(&format!("redis://127.0.0.1:{}", port.number())).unwrap();
    let store = Fallback::new(nowhere, MemoryStore::builder().clock(ManualClock::at(0)).build());
    let tiers = || {
        let window = Limit::new("window", FixedWindow::new(Quota::per_day(2)).anchored());
        let mut charges = Charges::from(bucket());
        charges.push(Charge::new(window, Key::new("key"))).unwrap();
        Operation::Acquire(charges)
    };
    for (admits, left) in [(true, [9, 1]), (true, [8, 0]), (false, [8, 0]), (false, [8, 0])] {
        let decision = store.apply(tiers()).await.unwrap();
        let told: Vec<_> = decision.tiers().iter().map(|tier| tier.verdict().remaining()).collect();
        assert_eq!((decision.admits(), &told[..]), (admits, &left[..]));
    }
}

#[tokio::test]
async fn whoever_finds_a_line_full_hears_it_from_the_one_who_told_its_head() {
    let (port, clock) = (Port::free(), ManualClock::at(0));
    let nowhere = RedisStore::builder().url(&format!("redis://127.0.0.1:{}", port.number()));
    let memory = MemoryStore::builder().clock(clock.clone()).build();
    let store = Fallback::new(nowhere.clock(clock.clone()).build().unwrap(), memory);
    let limiter = Limiter::new("name", TokenBucket::new(Quota::per_hour(1)), store).waiters(1);
    let (key, two_hours) = (Key::new("key"), Duration::from_secs(7200));
    assert!(limiter.check(&key).await.unwrap().admits());
    let head = limiter.wait(&key, two_hours);
    let in_line = eventually("somebody waits", async || clock.waiting() > 0);
    let mut head = std::pin::pin!(head);
    tokio::select! {
        told = &mut head => panic!("it did not wait: {told:?}"),
        () = in_line => {}
    }
    let turned_away = limiter.wait(&key, two_hours).await.unwrap();
    assert!(!turned_away.admits() && turned_away.is_by_fallback());
}

/// Requests that are held wait on the store's clock, whoever decided.
#[test]
fn its_clock_is_the_stores() {
    let redis = RedisStore::builder().clock(ManualClock::at(1)).build().unwrap();
    let memory = MemoryStore::builder().clock(ManualClock::at(2)).build();
    assert_eq!(Fallback::new(redis, memory).clock().now(), 1);
}
