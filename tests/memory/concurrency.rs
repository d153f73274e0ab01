//! Slots in memory: exact under threads, and never evicted.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use tollgate::{Charge, Concurrency, Key, Limit, MemoryStore, Operation, Quota, Store, TokenBucket};

fn acquire(store: &MemoryStore, limit: &Limit, key: &Key) -> tollgate::Decision {
    let charge = Charge::new(limit.clone(), key.clone());
    store
        .acquire_now(charge.into())
        .unwrap_or_else(|_| panic!("memory decides at once"))
}

#[test]
fn threads_never_hold_more_than_the_limit() {
    let (store, limit, held) = (
        MemoryStore::new(),
        Limit::new("slots", Concurrency::new(3)),
        AtomicU64::new(0),
    );
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5000 {
                    let Some(receipt) = acquire(&store, &limit, &Key::GLOBAL).into_receipt() else {
                        continue;
                    };
                    assert!(held.fetch_add(1, Ordering::SeqCst) < 3);
                    thread::yield_now();
                    held.fetch_sub(1, Ordering::SeqCst);
                    drop(store.apply(Operation::Refund(receipt)).into_inner());
                }
            });
        }
    });
    assert_eq!(
        acquire(&store, &limit, &Key::GLOBAL).tiers()[0].verdict().remaining(),
        2
    );
}

#[test]
fn a_full_store_evicts_no_slots() {
    let store = MemoryStore::builder().max_keys(100).build();
    let slots = Limit::new("slots", Concurrency::new(1));
    let rate = Limit::new("rate", TokenBucket::new(Quota::per_day(10)));
    let held: Vec<_> = (0..150)
        .map(|number| {
            let key = Key::named("held", number);
            let receipt = acquire(&store, &slots, &key).into_receipt().unwrap();
            (key, receipt)
        })
        .collect();
    for number in 0..10_000 {
        assert!(acquire(&store, &rate, &Key::named("other", number)).admits());
    }
    for (key, _) in &held {
        assert!(!acquire(&store, &slots, key).admits(), "{key}");
    }
    for (key, receipt) in held {
        drop(store.apply(Operation::Refund(receipt)).into_inner());
        assert!(acquire(&store, &slots, &key).admits(), "{key}");
    }
}

#[test]
fn a_release_after_a_reset_does_nothing() {
    let clock = tollgate::ManualClock::at(1_000_000);
    let store = MemoryStore::builder().clock(clock.clone()).build();
    let limit = Limit::new("slots", Concurrency::new(2));
    let before = acquire(&store, &limit, &Key::GLOBAL).into_receipt().unwrap();
    let charge = Charge::new(limit.clone(), Key::GLOBAL);
    drop(store.apply(Operation::Reset(charge.into())).into_inner());
    clock.advance(std::time::Duration::from_micros(1));
    let after = acquire(&store, &limit, &Key::GLOBAL);
    drop(store.apply(Operation::Refund(before)).into_inner());
    assert_eq!(
        acquire(&store, &limit, &Key::GLOBAL).tiers()[0].verdict().remaining(),
        0
    );
    drop(after);
}
