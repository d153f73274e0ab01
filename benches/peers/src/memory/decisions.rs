//! Threads that decide at full speed.

use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use governor::Quota;

use crate::rng::Rng;

/// The number of decisions between two readings of the clock, which cost as much as a decision.
const BATCH: u64 = 256;

/// The throughput of all threads. A decision takes a random number to select its key by.
pub fn decisions_per_second(threads: usize, span: Duration, decide: &(impl Fn(usize) + Sync)) -> f64 {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|seed| {
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    one_thread(seed, span, decide)
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("the thread did not panic"))
            .sum()
    })
}

fn one_thread(seed: usize, span: Duration, decide: &impl Fn(usize)) -> f64 {
    let (start, mut rng, mut decisions) = (Instant::now(), Rng::new(seed), 0);
    while start.elapsed() < span {
        (0..BATCH).for_each(|_| decide(rng.next()));
        decisions += BATCH;
    }
    decisions as f64 / start.elapsed().as_secs_f64()
}

/// Charges every key once.
pub fn charge_all(keys: usize, decide: &impl Fn(usize)) {
    (0..keys).for_each(decide);
}

/// The same limit as ours: a burst of a billion, refilled by one per second.
pub fn never_denies() -> Quota {
    let burst = 1_000_000_000.try_into().expect("not 0");
    Quota::with_period(Duration::from_secs(1))
        .expect("not 0")
        .allow_burst(burst)
}
