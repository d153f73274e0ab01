//! `key_memory ours|governor KEYS` charges each of `KEYS` keys once, and prints the growth of the process in bytes.

use std::{fs, hint::black_box, time::Duration};

use governor::{Quota, RateLimiter};
use tollgate::{Charge, Key, Limit, MemoryStore, Operation, Store, TokenBucket};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [side, keys] = &arguments[..] else {
        panic!("key_memory ours|governor KEYS");
    };
    let keys = keys.parse().expect("KEYS is a number");
    let growth = match &**side {
        "ours" => ours(keys),
        "governor" => governor(keys),
        other => panic!("{other} is neither ours nor governor"),
    };
    println!("{growth}");
}

fn ours(keys: usize) -> usize {
    // The bound is divided among shards: with spare capacity, none of them is full.
    let store = MemoryStore::builder().max_keys(2 * keys).build();
    let limit = Limit::new("user", TokenBucket::new(tollgate::Quota::per_hour(100)));
    let before = resident();
    for key in 0..keys {
        let charge = Charge::new(limit.clone(), Key::new(format!("user:{key}")));
        let decision = store.apply(Operation::Acquire(charge.into())).into_inner();
        assert!(decision.expect("the memory store does not fail").admits());
    }
    let growth = resident() - before;
    assert_eq!(black_box(store).len(), keys);
    growth
}

fn governor(keys: usize) -> usize {
    let burst = 100.try_into().expect("not 0");
    let hour = Duration::from_secs(60 * 60);
    let quota = Quota::with_period(hour / 100).expect("not 0").allow_burst(burst);
    let limiter = RateLimiter::keyed(quota);
    let before = resident();
    for key in 0..keys {
        assert!(limiter.check_key(&format!("user:{key}")).is_ok());
    }
    let growth = resident() - before;
    assert_eq!(black_box(limiter).len(), keys);
    growth
}

/// The resident memory of this process, in bytes.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .expect("a number in kB");
    kilobytes.trim().parse::<usize>().expect("a number") * 1024
}
