//! `decide ALGORITHM store|alone|clock COUNT` makes `COUNT` decisions, for valgrind to count instructions.
//!
//! `store` measures a memory store from the charge to the decision; `alone` is the algorithm's peek and commit. A manual clock
//! advances by a millisecond per decision, so that every run is the same; `clock` only advances it, since that is no part of a
//! decision.

use std::{hint::black_box, time::Duration};

use tollgate::{
    Algorithm, AnyAlgorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, ManualClock, MemoryStore, Operation, Quota,
    SlidingCounter, SlidingLog, State, Store, TokenBucket,
};

/// The first time, in microseconds since the epoch.
const START: u64 = 1_700_000_000_000_000;

const STEP: Duration = Duration::from_millis(1);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [algorithm, mode, count] = &arguments[..] else {
        panic!("decide ALGORITHM store|alone|clock COUNT");
    };
    let (algorithm, count) = (steady(algorithm), count.parse().expect("COUNT is a number"));
    match &**mode {
        "store" => with_store(algorithm, count),
        "alone" => alone(algorithm, count),
        "clock" => advance_clock(count),
        other => panic!("{other} is neither store, alone nor clock"),
    }
}

/// A limit that a request per millisecond never exceeds and that never resets fully. Windows expire, and a log is always full: for
/// each added entry another one expires.
fn steady(algorithm: &str) -> AnyAlgorithm {
    let (slow, per_window) = (Quota::per_second(1), |limit| Quota::new(limit, 100 * STEP));
    match algorithm {
        "token_bucket" => TokenBucket::with_capacity(slow, 1_000_000_000).to_any(),
        "leaky_bucket" => LeakyBucket::with_capacity(slow, 1_000_000_000).to_any(),
        "fixed_window" => FixedWindow::new(per_window(200)).to_any(),
        "sliding_log" => SlidingLog::new(per_window(100)).to_any(),
        "sliding_counter" => SlidingCounter::new(per_window(200)).to_any(),
        other => panic!("unknown algorithm {other}"),
    }
}

fn with_store(algorithm: AnyAlgorithm, count: u64) {
    let clock = ManualClock::at(START);
    let store = MemoryStore::builder().clock(clock.clone()).build();
    let (limit, key) = (Limit::new("user", algorithm), Key::new("user:12345"));
    for _ in 0..count {
        clock.advance(STEP);
        let charge = Charge::new(limit.clone(), key.clone());
        let decision = store.apply(Operation::Acquire(charge.into())).into_inner();
        assert!(black_box(decision).expect("the memory store does not fail").admits());
    }
}

fn advance_clock(count: u64) {
    let clock = ManualClock::at(START);
    (0..count).for_each(|_| clock.advance(STEP));
}

fn alone(algorithm: AnyAlgorithm, count: u64) {
    let (mut state, mut now) = (State::Fresh, START);
    for _ in 0..count {
        now += STEP.as_micros() as u64;
        let verdict = black_box(&algorithm).peek(black_box(&state), now, 1);
        assert!(black_box(verdict).outcome().admits());
        black_box(algorithm.commit(&mut state, now, 1));
    }
}
