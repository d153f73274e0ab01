//! Inserts into a full store whose keys have all been charged again, so that none is in its place in the queue for eviction.

use std::time::Instant;

use tollgate::{Key, Limit, MemoryStore, Quota, TokenBucket};

use crate::runner::{Pair, Runner, median};

const KEYS: usize = 1_000_000;
const INSERTS: usize = 10_000;
const MAX_MICROSECONDS: f64 = 200.0;

/// The slowest of ten thousand inserts, in microseconds: the median of all rounds.
pub fn worst_insert(runner: &Runner) -> Pair {
    let store = MemoryStore::builder().max_keys(KEYS).build();
    // A token refills in an hour, so that no key expires.
    let limit = Limit::new("user", TokenBucket::with_capacity(Quota::per_hour(1), 1_000_000));
    let charge = |number: usize| assert!(store.acquire(&limit, &Key::named("user", number), 1).outcome().admits());
    (0..KEYS).for_each(charge);
    let worst = |round: usize| {
        let first = KEYS + round * INSERTS;
        (first - KEYS..first).for_each(charge);
        let insert = |number| {
            let start = Instant::now();
            charge(number);
            start.elapsed().as_secs_f64() * 1e6
        };
        (first..first + INSERTS).map(insert).fold(0.0, f64::max)
    };
    Pair {
        ours: median((0..runner.rounds).map(worst).collect()),
        other: MAX_MICROSECONDS,
    }
}
