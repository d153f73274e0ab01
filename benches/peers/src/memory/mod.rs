//! The memory store against governor's keyed limiter: the same token bucket and keys, without HTTP.

mod bytes_per_key;
mod concurrency;
mod decisions;
mod full_store;

use std::hint::black_box;

use governor::RateLimiter;
use tollgate::{Key, Limit, MemoryStore};

use self::decisions::{charge_all, decisions_per_second};
use crate::{
    benchmark::{Benchmark, Group},
    runner::{Pair, Runner},
    scaling,
    tier::never_denies,
};

const RATE: &str = "dec/s";
const GOVERNOR: &str = "governor";

/// The bottleneck of decisions for one key.
const ONE_THREAD: &str = "Reading the clock takes about 25 ns on both sides, and a lock 20 ns where governor's compare-and-swap takes 10. The \
    rest is two divisions for `remaining` and `reset_after`, which governor does not return. The clock took 55 ns before it was read \
    from the CPU's counter. With two threads, the longer a thread waits before it tries to lock again, the longer the other one keeps \
    the cache lines: on one machine the ratio was 0.53 after 33 ns, 1.0 after 130 ns, 1.43 after 0.5 us, and 1.9 after 2 us. It used to \
    wait for 32 pauses, which take from 0.1 to 2 us depending on the CPU; that is probably why the ratio was 1.49 on one machine and \
    0.28 to 0.63 on another.";

/// The bottleneck of decisions for many keys.
const MANY_KEYS: &str = "Runs gave 1.34 to 1.84 with one thread, and 1.34 to 1.49 with two. A decision reads the index and the entry of its \
    key from memory, since 100,000 keys exceed the caches; on two threads, half of the keys were last charged by the \
    other core.";

/// The bottleneck of several tiers.
const THREE_TIERS: &str = "A single tier has one lock, one lookup, and one computation for peek and commit. Several tiers are all peeked at before one is \
    charged, so each is computed twice, and there are two allocations, for the charges and for the decision. Room for three tiers in both \
    was tried: it takes requests of one tier 900 instructions more, for copying. The charges themselves take a quarter of the time: a \
    reference count and a key for each. Tried: a shard per key instead of one per key and limit, so that tiers of one key share a lock (not \
    kept: all limits for everyone would share one, too).";

/// The bottleneck of slots, which are acquired and released.
const SLOTS: &str = "A release finds its key by hash, under the lock of its shard, as an acquire does; a permit of a semaphore has a pointer to it. \
    Both return a decision with all verdicts, and read the clock: two readings, two locks and the reference count of the limit take 100 ns, \
    as much as all of the other side. It was 0.26 before a release of a single charge had a way of its own. Tried: a shorter way for a state \
    with one entry (60 instructions of 1,600 less, no gain in time).";

#[rustfmt::skip] // one row per line
const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("memory_hot_key_1", RATE, GOVERNOR, |runner| against_governor(runner, 1, 1)).at_least(1.1).bottleneck(ONE_THREAD),
    Benchmark::new("memory_hot_key_2", RATE, GOVERNOR, |runner| against_governor(runner, 1, 2)).at_least(1.3).bottleneck(ONE_THREAD),
    Benchmark::new("memory_random_keys_1", RATE, GOVERNOR, |runner| against_governor(runner, 100_000, 1)).at_least(1.6).bottleneck(MANY_KEYS),
    Benchmark::new("memory_random_keys_2", RATE, GOVERNOR, |runner| against_governor(runner, 100_000, 2)).at_least(1.6).bottleneck(MANY_KEYS),
    Benchmark::new("memory_three_tiers", "ns", "one tier", three_tiers).at_most(2.7).bottleneck(THREE_TIERS),
    Benchmark::new("memory_concurrency_2", "req/s", "Semaphore", |runner| concurrency::throughput(runner, 2)).at_least(0.7).bottleneck(SLOTS),
    Benchmark::new("memory_full_insert", "us", "200 us", full_store::worst_insert).at_most(1.0),
    Benchmark::new("memory_bytes", "B", "governor's DashMap", bytes_per_key::bytes_per_key).at_most(1.0),
];

pub const GROUP: Group = Group {
    title: "The memory store",
    method: include_str!("method.md"),
    benchmarks: BENCHMARKS,
    scalings: &[],
};

fn three_tiers(runner: &Runner) -> Pair {
    let times = scaling::memory_tiers(runner, &[1, 3]);
    Pair {
        ours: times[1],
        other: times[0],
    }
}

fn against_governor(runner: &Runner, keys: usize, threads: usize) -> Pair {
    let identities: Vec<String> = (0..keys).map(|key| format!("user:{key}")).collect();
    let ours: Vec<Key> = identities.iter().cloned().map(Key::new).collect();
    let limit = Limit::new("user", never_denies());
    let store = MemoryStore::new();
    let decide_ours = |number: usize| {
        let verdict = store.acquire(&limit, &ours[number % keys], 1);
        assert!(black_box(verdict).outcome().admits());
    };
    let limiter = RateLimiter::keyed(decisions::never_denies());
    let decide_governor = |number: usize| assert!(black_box(limiter.check_key(&identities[number % keys])).is_ok());
    charge_all(keys, &decide_ours);
    charge_all(keys, &decide_governor);
    runner.alternate(
        |span| decisions_per_second(threads, span, &decide_ours),
        |span| decisions_per_second(threads, span, &decide_governor),
    )
}
