//! `hold ours|governor KEYS` charges that many keys once, and prints by how many bytes it grew.

use std::{fs, hint::black_box, time::Duration};

use governor::{Quota, RateLimiter};
use tollgate::{Charge, Key, Limit, MemoryStore, Operation, Store, TokenBucket};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [side, keys] = &arguments[..] else {
        panic!("hold ours|governor KEYS");
    };
    let keys = keys.parse().expect("KEYS is a number");
    let grown = match &**side {
        "ours" => ours(keys),
        "governor" => governors(keys),
        other => panic!("{other} is neither ours nor governor"),
    };
    println!("{grown}");
}

fn ours(keys: usize) -> usize {
    // Its bound is shared out among shards: with room to spare, none of them is full.
    let store = MemoryStore::builder().max_keys(2 * keys).build();
    let limit = Limit::new("user", TokenBucket::new(tollgate::Quota::per_hour(100)));
    let before = resident();
    for key in 0..keys {
        let charge = Charge::new(limit.clone(), Key::new(format!("user:{key}")));
        let decision = store.apply(Operation::Acquire(charge.into())).into_inner();
        assert!(decision.expect("it cannot fail").admits());
    }
    let grown = resident() - before;
    assert_eq!(black_box(store).len(), keys);
    grown
}

fn governors(keys: usize) -> usize {
    let burst = 100.try_into().expect("it is not 0");
    let hour = Duration::from_secs(60 * 60);
    let quota = Quota::with_period(hour / 100).expect("it is not 0").allow_burst(burst);
    let limiter = RateLimiter::keyed(quota);
    let before = resident();
    for key in 0..keys {
        assert!(limiter.check_key(&format!("user:{key}")).is_ok());
    }
    let grown = resident() - before;
    assert_eq!(black_box(limiter).len(), keys);
    grown
}

/// The bytes of this process that are in memory.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .expect("Linux tells it in kB");
    kilobytes.trim().parse::<usize>().expect("it is a number") * 1024
}
