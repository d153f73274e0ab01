//! `decide ALGORITHM store|alone|clock COUNT` makes that many decisions, for valgrind to count instructions.
//!
//! `store` goes the whole way from a charge to the decision of a memory store; `alone` is the algorithm's peek and
//! commit. A millisecond passes from one decision to the next, on a clock that is set by hand, so that every run is the
//! same; `clock` only sets it, since that is no part of a decision.

use std::{hint::black_box, time::Duration};

use tollgate::{
    Algorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, ManualClock, MemoryStore, Operation, Quota, Rule,
    SlidingCounter, SlidingLog, State, Store, TokenBucket,
};

/// When it begins, in microseconds since the epoch.
const START: u64 = 1_700_000_000_000_000;

const STEP: Duration = Duration::from_millis(1);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [algorithm, way, count] = &arguments[..] else {
        panic!("decide ALGORITHM store|alone|clock COUNT");
    };
    let (rule, count) = (steady(algorithm), count.parse().expect("COUNT is a number"));
    match &**way {
        "store" => through_a_store(rule, count),
        "alone" => alone(rule, count),
        "clock" => set_the_clock(count),
        other => panic!("{other} is neither store, alone nor clock"),
    }
}

/// A rule that a request a millisecond never reaches and that is never as good as new. Windows come and go, and a log
/// is always full: for each request that it adds, another one leaves.
fn steady(algorithm: &str) -> Rule {
    let (slow, in_a_window) = (Quota::per_second(1), |limit| Quota::new(limit, 100 * STEP));
    match algorithm {
        "token_bucket" => TokenBucket::with_capacity(slow, 1_000_000_000).rule(),
        "leaky_bucket" => LeakyBucket::with_capacity(slow, 1_000_000_000).rule(),
        "fixed_window" => FixedWindow::new(in_a_window(200)).rule(),
        "sliding_log" => SlidingLog::new(in_a_window(100)).rule(),
        "sliding_counter" => SlidingCounter::new(in_a_window(200)).rule(),
        other => panic!("there is no algorithm {other}"),
    }
}

fn through_a_store(rule: Rule, count: u64) {
    let clock = ManualClock::at(START);
    let store = MemoryStore::builder().clock(clock.clone()).build();
    let (limit, key) = (Limit::new("user", rule), Key::new("user:12345"));
    for _ in 0..count {
        clock.advance(STEP);
        let charge = Charge::new(limit.clone(), key.clone());
        let decision = store.apply(Operation::Acquire(charge.into())).into_inner();
        assert!(black_box(decision).expect("it cannot fail").admits());
    }
}

fn set_the_clock(count: u64) {
    let clock = ManualClock::at(START);
    (0..count).for_each(|_| clock.advance(STEP));
}

fn alone(rule: Rule, count: u64) {
    let (mut state, mut now) = (State::Fresh, START);
    for _ in 0..count {
        now += STEP.as_micros() as u64;
        let verdict = black_box(&rule).peek(black_box(&state), now, 1);
        assert!(black_box(verdict).outcome().admits());
        black_box(rule.commit(&mut state, now, 1));
    }
}
