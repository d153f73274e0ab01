//! The memory store against governor's keyed limiter: the same token bucket, the same keys, no HTTP on either side.

mod decisions;
mod held;

use std::hint::black_box;

use governor::RateLimiter;
use tollgate::{Key, Limit, MemoryStore};

use self::decisions::{all_of, decisions_a_second};
use crate::{
    bench::{Bench, Pair},
    figure::{Figure, Group},
    tier::never_refuses,
};

const RATE: &str = "dec/s";
const GOVERNOR: &str = "governor";

/// What bounds a decision about a hot key.
const ONE_THREAD: &str = "The clock takes about 25 ns on both sides, a lock 20 where governor's compare-and-swap takes 10, and the rest is \
    two divisions for `remaining` and `reset_after`, which governor does not tell. The clock was 55 ns before it was read from \
    the processor's counter. Under contention the order turns round.";

/// What bounds decisions about many keys on two threads.
const TWO_THREADS: &str = "It is at its mark, give or take some percent from run to run: half of the keys were last charged by the other \
    core, and their cache lines come from there.";

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("memory_hot_key_1", RATE, GOVERNOR, |bench| against_governor(bench, 1, 1)).at_least(1.0).bound(ONE_THREAD),
    Figure::new("memory_hot_key_2", RATE, GOVERNOR, |bench| against_governor(bench, 1, 2)).at_least(1.0),
    Figure::new("memory_random_keys_1", RATE, GOVERNOR, |bench| against_governor(bench, 100_000, 1)).at_least(1.5),
    Figure::new("memory_random_keys_2", RATE, GOVERNOR, |bench| against_governor(bench, 100_000, 2)).at_least(1.5).bound(TWO_THREADS),
    Figure::new("memory_bytes", "B", "governor's DashMap", held::bytes_a_key).at_most(1.0),
];

pub const GROUP: Group = Group {
    title: "The memory store",
    how: include_str!("how.md"),
    figures: FIGURES,
    growths: &[],
};

fn against_governor(bench: &Bench, keys: usize, threads: usize) -> Pair {
    let identities: Vec<String> = (0..keys).map(|key| format!("user:{key}")).collect();
    let ours: Vec<Key> = identities.iter().cloned().map(Key::new).collect();
    let limit = Limit::new("user", never_refuses());
    let store = MemoryStore::new();
    let decide_ours = |pick: usize| {
        let verdict = store.acquire(&limit, &ours[pick % keys], 1);
        assert!(black_box(verdict).outcome().admits());
    };
    let limiter = RateLimiter::keyed(decisions::never_refuses());
    let decide_governor = |pick: usize| assert!(black_box(limiter.check_key(&identities[pick % keys])).is_ok());
    all_of(keys, &decide_ours);
    all_of(keys, &decide_governor);
    bench.in_turn(
        |span| decisions_a_second(threads, span, &decide_ours),
        |span| decisions_a_second(threads, span, &decide_governor),
    )
}
