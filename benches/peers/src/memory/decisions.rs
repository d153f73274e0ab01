//! Threads that decide as fast as they can.

use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use governor::Quota;

use crate::picks::Picks;

/// How many decisions are made between two looks at the clock, which costs as much as one of them.
const AT_ONCE: u64 = 256;

/// How many decisions all threads together make in a second. A decision is told a number to pick its key by.
pub fn decisions_a_second(threads: usize, span: Duration, decide: &(impl Fn(usize) + Sync)) -> f64 {
    let start_together = Barrier::new(threads);
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|seed| {
                let start_together = &start_together;
                scope.spawn(move || {
                    start_together.wait();
                    one_thread(seed, span, decide)
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("it does not panic"))
            .sum()
    })
}

fn one_thread(seed: usize, span: Duration, decide: &impl Fn(usize)) -> f64 {
    let (start, mut picks, mut decisions) = (Instant::now(), Picks::new(seed), 0);
    while start.elapsed() < span {
        (0..AT_ONCE).for_each(|_| decide(picks.next()));
        decisions += AT_ONCE;
    }
    decisions as f64 / start.elapsed().as_secs_f64()
}

/// Charges every key once.
pub fn all_of(keys: usize, decide: &impl Fn(usize)) {
    (0..keys).for_each(decide);
}

/// The same as ours: a billion at once, and one more every second.
pub fn never_refuses() -> Quota {
    let burst = 1_000_000_000.try_into().expect("it is not 0");
    Quota::with_period(Duration::from_secs(1))
        .expect("it is not 0")
        .allow_burst(burst)
}
