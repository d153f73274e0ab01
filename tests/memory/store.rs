//! What the memory store keeps, evicts and shares.

use std::{collections::HashMap, time::Duration};

use tollgate::{
    Algorithm, Charge, Cost, FixedWindow, Key, LeakyBucket, Limit, MemoryStore, Operation, Outcome, Quota, Receipt,
    SlidingCounter, SlidingLog, TokenBucket,
};

use support::{
    algorithms::each_algorithm,
    memory::{SECOND, TEN, acquire, apply, charge, costs, group, receipt, remaining, store},
};

/// The store does not sweep this few keys, expired or not.
const MIN_SWEPT_KEYS: usize = 4;

/// A limit whose charges expire in as many seconds as they cost.
fn seconds() -> Limit {
    Limit::new("seconds", TokenBucket::new(Quota::per_second(1)).capacity(1_000_000))
}

fn lasting(key: impl ToString, cost: Cost) -> Charge {
    Charge::new(seconds(), Key::new(key.to_string())).with_cost(cost)
}

fn holds(store: &MemoryStore, key: impl ToString) -> bool {
    store.state(&seconds(), &Key::new(key.to_string())).is_some()
}

/// `a30` charges 30 to the key a, and `a-20` settles its latest charge at 20 less.
fn play(store: &MemoryStore, steps: &'static str) {
    let mut receipts = HashMap::new();
    for (key, amount) in steps.split_whitespace().map(|step| step.split_at(1)) {
        if let Some(less) = amount.strip_prefix('-') {
            let receipt: Receipt = receipts.remove(key).unwrap();
            let to = costs(&receipt)[0] - less.parse::<Cost>().unwrap();
            apply(store, Operation::Settle(receipt.settled(to.into())));
        } else {
            receipts.insert(key, receipt(store, lasting(key, amount.parse().unwrap())));
        }
    }
}

#[test]
fn a_full_store_evicts_the_key_nearest_to_expiry() {
    // Three keys fit. The fourth one expires before all of them, and another is evicted nevertheless.
    let cases = [
        ("b", "in any order", "a30 b10 c20"),
        ("b", "a moved later by a charge", "a10 b20 c30 a15"),
        ("a", "a moved earlier by a refund", "a30 b10 c20 a-25"),
        ("b", "a moved later and back half the way", "a10 b12 c20 a50 a-45"),
        ("a", "a moved later and back all the way", "a10 b12 c20 a50 a-50"),
        ("b", "a was removed, and is added for longer", "a5 a-5 b10 a15 c20"),
        ("a", "a was removed, and is added for less", "a15 a-15 b10 a5 c20"),
    ];
    for (nearest, case, steps) in cases {
        let (store, _) = store(3);
        play(&store, steps);
        assert_eq!(store.len(), 3, "{case}");
        play(&store, "n1");
        let evicted = ["a", "b", "c", "n"].into_iter().filter(|key| !holds(&store, key));
        assert_eq!(evicted.collect::<Vec<_>>(), [nearest], "{case}");
        play(&store, "m100");
        let held = ["n", "m"].map(|key| holds(&store, key));
        assert_eq!((held, store.len()), ([false, true], 3), "{case}");
    }
}

#[test]
fn a_store_of_one_key_holds_the_latest() {
    let (store, _) = store(1);
    for key in 0..100 {
        assert!(acquire(&store, [lasting(key, 100 - key)]).admits());
        assert_eq!((store.len(), holds(&store, key)), (1, true));
    }
}

#[test]
fn a_flood_of_keys_stays_within_the_bound() {
    let (store, _) = store(20_000);
    for key in 0..60_000 {
        acquire(&store, [lasting(key, 1 + key % 7)]);
        assert!(key % 1000 > 0 || store.len() <= 20_000, "after {key}");
    }
    // The bound is divided among up to 64 shards, each of which rounds down by less than one key.
    assert!((19_937..=20_000).contains(&store.len()), "{}", store.len());
}

/// Charges each of these keys twice, so that all are too early in the expiry queue. A key expires the later, the greater it is.
fn charge_twice(store: &MemoryStore, keys: u32) {
    for _ in 0..2 {
        (0..keys).for_each(|key| drop(acquire(store, [lasting(key, 1000 + key)])));
    }
}

#[test]
fn no_insert_waits_until_the_key_to_evict_is_found() {
    let (store, _) = store(1000);
    charge_twice(&store, 1000);
    acquire(&store, [lasting("new", 100_000)]);
    assert_eq!(store.len(), 1001);
    // Operations that add no key continue, and evict none.
    (0..500).for_each(|_| drop(acquire(&store, [lasting("new", 1)])));
    assert_eq!(store.len(), 1001);
    acquire(&store, [lasting("newer", 100_000)]);
    let evicted = (0..1000).filter(|key| !holds(&store, key));
    assert_eq!((evicted.collect::<Vec<_>>(), store.len()), (vec![0, 1], 1000));
}

#[test]
fn a_store_exceeds_its_bound_by_a_32nd_at_most() {
    let (store, _) = store(1000);
    charge_twice(&store, 1000);
    for key in 1000..5000 {
        acquire(&store, [lasting(key, 1000 + key)]);
        // These are charged again, and are too early in the queue again.
        (0..20).for_each(|other| drop(acquire(&store, [lasting(key - 37 * other % 500, 10)])));
        assert!(store.len() <= 1000 + 1000 / 32 + 1, "{} after {key}", store.len());
    }
}

#[test]
fn traffic_sweeps_expired_keys() {
    let (store, clock) = store(1000);
    for key in 0..500 {
        // After the second charge, the key is too early in the expiry queue.
        (0..2).for_each(|_| drop(acquire(&store, [lasting(key, 1)])));
    }
    clock.advance(2 * SECOND);
    assert_eq!(store.len(), 500);
    (0..1000).for_each(|_| drop(acquire(&store, [lasting("busy", 1)])));
    assert_eq!(store.len(), MIN_SWEPT_KEYS);
    assert_eq!(remaining(&store, &lasting("busy", 1)), 999_000);
}

#[test]
fn denied_requests_sweep_too() {
    let (store, clock) = store(1000);
    (0..500).for_each(|key| drop(acquire(&store, [lasting(key, 1)])));
    clock.advance(SECOND);
    (0..500).for_each(|_| assert!(!acquire(&store, [lasting("denied", Cost::MAX)]).admits()));
    assert_eq!(store.len(), MIN_SWEPT_KEYS);
}

#[test]
fn a_sweep_keeps_unexpired_keys() {
    let (store, clock) = store(1000);
    (0..500).for_each(|key| drop(acquire(&store, [lasting(key, 1 + key % 2)])));
    clock.advance(2 * SECOND - Duration::from_micros(1));
    (0..1000).for_each(|_| drop(acquire(&store, [lasting("busy", 1)])));
    assert_eq!(store.len(), 251);
    assert!((1..500).step_by(2).all(|key| holds(&store, key)));
}

#[test]
fn refunded_settled_and_reset_keys_are_removed() {
    for algorithm in each_algorithm(TEN) {
        let (store, _) = store(1_000_000);
        let limit = Limit::new("ten", algorithm);
        for key in 0..5000 {
            let charge = Charge::new(limit.clone(), Key::new(key.to_string())).with_cost(1 + key % 10);
            let receipt = receipt(&store, charge.clone());
            assert_eq!(store.len(), 1, "{algorithm:?}");
            let decision = match key % 3 {
                0 => apply(&store, Operation::Refund(receipt)),
                1 => apply(&store, Operation::Settle(receipt.settled(0))),
                _ => apply(&store, Operation::Reset(charge.into())),
            };
            assert_eq!(decision.tiers()[0].verdict().remaining(), 10, "{algorithm:?}");
            assert!(store.is_empty(), "{algorithm:?}");
        }
    }
}

#[test]
fn a_request_that_is_not_charged_adds_no_key() {
    for algorithm in each_algorithm(TEN) {
        let (store, _) = store(1000);
        let [full, fresh] = ["full", "fresh"].map(|name| charge(name, algorithm));
        assert!(acquire(&store, [fresh.clone().with_cost(0)]).admits());
        let outcome = acquire(&store, [fresh.clone().with_cost(11)]).outcome();
        assert_eq!((outcome, store.len()), (Outcome::Impossible, 0), "{algorithm:?}");
        let reset = receipt(&store, fresh.clone());
        apply(&store, Operation::Reset(fresh.clone().into()));
        apply(&store, Operation::Refund(reset));
        assert!(store.is_empty(), "{algorithm:?}");
        acquire(&store, [full.clone().with_cost(10)]);
        assert!(!acquire(&store, [fresh.clone(), full.clone()]).admits());
        assert!(!acquire(&store, [full.clone(), fresh.clone()]).admits());
        assert!(!acquire(&store, [fresh.clone().shadow(), full]).admits());
        assert_eq!((store.len(), remaining(&store, &fresh)), (1, 10), "{algorithm:?}");
    }
}

#[test]
fn a_reset_clears_only_the_named_keys() {
    for algorithm in each_algorithm(TEN) {
        let (store, _) = store(1000);
        let [a, b, c] = ["a", "b", "c"].map(|name| charge(name, algorithm));
        acquire(
            &store,
            [a.clone().with_cost(10), b.clone().with_cost(3), c.clone().with_cost(4)],
        );
        let decision = apply(&store, Operation::Reset(group([c, a.clone().with_cost(0)])));
        let left = decision.tiers().iter().map(|tier| tier.verdict().remaining());
        assert_eq!(left.collect::<Vec<_>>(), [10, 10], "{algorithm:?}");
        assert_eq!((store.len(), remaining(&store, &b)), (1, 7), "{algorithm:?}");
        assert!(acquire(&store, [a.with_cost(10)]).admits());
    }
}

/// What remains under the second algorithm after two requests under the first, on a clone of the store.
fn left(first: impl Algorithm, second: impl Algorithm) -> u64 {
    let (store, _) = store(1000);
    acquire(&store, [charge("one", first.clone()).with_cost(2)]);
    assert_eq!(remaining(&store, &charge("two", first.clone())), 10);
    assert_eq!(remaining(&store, &charge("one", first)), 8);
    remaining(&store.clone(), &charge("one", second))
}

#[test]
fn limits_of_one_shape_are_one_limit() {
    let two_minutes = Quota::new(10, 120 * SECOND);
    let token = |limit| TokenBucket::new(Quota::per_minute(limit));
    assert_eq!(left(token(10), token(10)), 8);
    assert_eq!(left(token(10), token(100)), 98);
    assert_eq!(left(token(10), token(10).capacity(3)), 1);
    assert_eq!(left(token(10), token(7).capacity(10)), 8);
    assert_eq!(left(token(10), token(1)), 0);
    assert_eq!(left(token(10), TokenBucket::new(two_minutes)), 10);
    let leaky = LeakyBucket::new(Quota::per_minute(10));
    assert_eq!(left(token(10), leaky), 10);
    assert_eq!(left(leaky, leaky.policing()), 8);
    assert_eq!(left(leaky, leaky.max_wait(SECOND)), 8);
    assert_eq!(left(leaky, LeakyBucket::new(two_minutes)), 10);
    let fixed = |limit| FixedWindow::new(Quota::per_minute(limit));
    assert_eq!(left(fixed(10), fixed(100)), 98);
    assert_eq!(left(fixed(10), fixed(1)), 0);
    assert_eq!(left(fixed(10), FixedWindow::new(two_minutes)), 10);
    assert_eq!(left(fixed(10), fixed(10).anchored()), 10);
    assert_eq!(left(fixed(10).anchored(), fixed(5).anchored()), 3);
    let log = |limit| SlidingLog::new(Quota::per_minute(limit));
    assert_eq!(left(log(10), log(100)), 98);
    assert_eq!(left(log(10), log(3)), 1);
    assert_eq!(left(log(10), SlidingLog::new(two_minutes)), 10);
    assert_eq!(left(log(10), fixed(10)), 10);
    let counter = |limit| SlidingCounter::new(Quota::per_minute(limit));
    assert_eq!(left(counter(10), counter(10).sub_windows(1)), 8);
    assert_eq!(left(counter(10).sub_windows(6), counter(3).sub_windows(6)), 1);
    assert_eq!(left(counter(10), counter(10).sub_windows(6)), 10);
    assert_eq!(left(counter(10).sub_windows(6), counter(10)), 10);
    assert_eq!(left(counter(10), SlidingCounter::new(two_minutes)), 10);
}

#[test]
fn many_keys_under_many_limits_do_not_collide() {
    let (store, _) = store(10_000);
    for name in 0..50 {
        let limit = Limit::new(&name.to_string(), FixedWindow::new(Quota::per_minute(1)));
        let mut charges = (0..50).map(|key| Charge::new(limit.clone(), Key::new(key.to_string())));
        assert!(charges.all(|charge| acquire(&store, [charge]).admits()));
    }
    assert_eq!(store.len(), 2500);
}

#[test]
fn keys_with_delimiters_do_not_collide() {
    let aligned = FixedWindow::new(Quota::per_minute(10));
    let [x, y] = ["x", "x.y"].map(|name| Limit::new(name, aligned));
    let anchored = Limit::new("x", aligned.anchored());
    let counter = Limit::new("x", SlidingCounter::new(Quota::per_minute(10)));
    let texts = "k,K,k ,,:k,y:k,anchored:k,1:k,60000000:k,\u{fc},u\u{308},k\0";
    let mut charges = Vec::new();
    for limit in [x, y, anchored, counter] {
        for (cost, text) in (charges.len() as Cost..).zip(texts.split(',')) {
            charges.push(Charge::new(limit.clone(), Key::new(text)).with_cost(1 + cost % 10));
        }
    }
    let (store, _) = store(1000);
    acquire(&store, charges.clone());
    assert_eq!(store.len(), 48);
    for (charge, left) in charges.iter().zip((0..10).rev().cycle()) {
        assert_eq!(remaining(&store, charge), left, "{charge:?}");
    }
}

/// A request that was charged at a higher rate ends after the rate was lowered. Its refund changes nothing, since the units of both differ.
#[test]
fn a_refund_that_changes_nothing_keeps_the_key_as_long() {
    let (store, clock) = store(1024);
    let bucket = |quota: Quota| Charge::new(Limit::new("rate", TokenBucket::new(quota).capacity(60)), Key::GLOBAL);
    let (before, now) = (bucket(Quota::per_second(60)), bucket(Quota::per_second(1)));
    for key in 0..=MIN_SWEPT_KEYS {
        assert!(acquire(&store, [lasting(key, 1000)]).admits());
    }
    let late = receipt(&store, before);
    assert!(acquire(&store, [now.clone().with_cost(59)]).admits());
    apply(&store, Operation::Refund(late));
    clock.advance(SECOND);
    assert!(acquire(&store, [lasting("other", 1)]).admits());
    assert!(!acquire(&store, [now.with_cost(60)]).admits());
}
