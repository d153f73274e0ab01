//! What a decision of the memory store takes: `cargo bench --bench decisions`.
//!
//! Nanoseconds a decision, the whole way from charge to decision, for one hot key and for 100,000 keys taken in a
//! scattered order; beside it, the algorithm alone.

use std::{hint::black_box, time::Instant};

use tollgate::{
    Algorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, MemoryStore, Operation, Quota, Rule, SlidingCounter,
    SlidingLog, State, Store, TokenBucket,
};

const DECISIONS: usize = 2_000_000;
const KEYS: usize = 100_000;

fn main() {
    let quota = Quota::per_hour(60_000);
    let rules: [Rule; 5] = [
        TokenBucket::new(quota).rule(),
        LeakyBucket::new(quota).rule(),
        FixedWindow::new(quota).rule(),
        SlidingLog::new(quota).rule(),
        SlidingCounter::new(quota).buckets(6).rule(),
    ];
    println!("{:16} {:>10} {:>10} {:>14}", "", "alone", "hot key", "100,000 keys");
    for rule in rules {
        let limit = Limit::new("bench", rule);
        let charges: Vec<Charge> = (0..KEYS)
            .map(|key| Charge::new(limit.clone(), Key::new(format!("user:{key}"))))
            .collect();
        println!(
            "{:16} {:>7} ns {:>7} ns {:>11} ns",
            rule.name(),
            alone(&rule),
            through_a_store(&charges[..1]),
            through_a_store(&charges)
        );
    }
}

/// The pure functions, at a time that moves on by a millisecond a request.
fn alone(rule: &Rule) -> u128 {
    let mut state = State::Fresh;
    timed(|turn| {
        let now = turn as u64 * 1000;
        if rule.peek(black_box(&state), now, 1).outcome().admits() {
            rule.commit(&mut state, now, 1);
        }
    })
}

fn through_a_store(charges: &[Charge]) -> u128 {
    let store = MemoryStore::new();
    timed(|turn| {
        // A stride that shares no divisor with the number of keys comes by all of them.
        let charge = &charges[turn.wrapping_mul(7919) % charges.len()];
        let decision = store.apply(Operation::Acquire(charge.clone().into()));
        black_box(decision.into_inner().unwrap().admits());
    })
}

fn timed(mut decide: impl FnMut(usize)) -> u128 {
    (0..KEYS).for_each(&mut decide);
    let start = Instant::now();
    (KEYS..KEYS + DECISIONS).for_each(decide);
    start.elapsed().as_nanos() / DECISIONS as u128
}
