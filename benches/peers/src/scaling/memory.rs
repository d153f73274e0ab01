//! In memory: nanoseconds per decision of one thread.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use tollgate::{
    Algorithm, Charge, Charges, Key, Limit, ManualClock, MemoryStore, Operation, Quota, SlidingCounter, SlidingLog,
    Store, TokenBucket,
};

use super::SUB_WINDOWS_WINDOW;
use crate::{rng::Rng, runner::Runner, tier::never_denies};

/// The number of decisions between two readings of the clock.
const BATCH: u32 = 256;

/// A store, and the limits and keys that requests are charged by.
struct Subject {
    store: MemoryStore,
    tiers: Vec<Limit>,
    users: Vec<Key>,
    /// Advanced by a millisecond per decision; `None` for the system clock.
    clock: Option<ManualClock>,
}

impl Subject {
    fn new(tiers: Vec<Limit>, users: usize) -> Self {
        Self {
            // With spare capacity, so that no shard is full.
            store: MemoryStore::builder()
                .max_keys(2 * users.max(1024) * tiers.len())
                .build(),
            tiers,
            users: (0..users).map(|user| Key::new(format!("user:{user}"))).collect(),
            clock: None,
        }
    }

    fn single(algorithm: impl Algorithm, users: usize) -> Self {
        Self::new(vec![Limit::new("user", algorithm)], users)
    }

    fn with_manual_clock(mut self) -> Self {
        let clock = ManualClock::at(0);
        self.store = MemoryStore::builder().clock(clock.clone()).build();
        self.clock = Some(clock);
        self
    }

    fn decide(&self, number: usize) {
        if let Some(clock) = &self.clock {
            clock.advance(Duration::from_millis(1));
        }
        let user = &self.users[number % self.users.len()];
        let mut charges = Charges::new();
        for limit in &self.tiers {
            charges
                .push(Charge::new(limit.clone(), user.clone()))
                .expect("tiers have different names");
        }
        let decision = self.store.apply(Operation::Acquire(charges)).into_inner();
        assert!(black_box(decision).expect("the memory store does not fail").admits());
    }

    fn nanoseconds(&self, span: Duration) -> f64 {
        let (start, mut rng, mut decisions) = (Instant::now(), Rng::new(0), 0);
        while start.elapsed() < span {
            (0..BATCH).for_each(|_| self.decide(rng.next()));
            decisions += BATCH;
        }
        start.elapsed().as_nanos() as f64 / f64::from(decisions)
    }
}

/// A token refills in an hour, since each of a million keys is charged rarely and must not expire in between.
pub fn keys(runner: &Runner, sizes: &[usize]) -> Vec<f64> {
    let bucket = TokenBucket::with_capacity(Quota::per_hour(1), 1_000_000);
    measure(runner, sizes, |keys| Subject::single(bucket, keys))
}

pub fn tiers(runner: &Runner, sizes: &[usize]) -> Vec<f64> {
    measure(runner, sizes, |tiers| {
        let limits = (1..=tiers).map(|tier| Limit::new(&format!("tier-{tier}"), never_denies()));
        Subject::new(limits.collect(), 1000)
    })
}

pub fn log_limit(runner: &Runner, sizes: &[usize]) -> Vec<f64> {
    measure(runner, sizes, |limit| {
        let quota = Quota::new(limit as u32, Duration::from_millis(limit as u64));
        Subject::single(SlidingLog::new(quota), 1).with_manual_clock()
    })
}

pub fn sub_windows(runner: &Runner, sizes: &[usize]) -> Vec<f64> {
    measure(runner, sizes, |sub_windows| {
        let quota = Quota::new(u32::MAX, SUB_WINDOWS_WINDOW);
        Subject::single(SlidingCounter::new(quota).sub_windows(sub_windows as u32), 1).with_manual_clock()
    })
}

/// Measures each size in turn, after charging every user often enough to fill logs and counters.
fn measure(runner: &Runner, sizes: &[usize], subject: impl Fn(usize) -> Subject) -> Vec<f64> {
    let subjects: Vec<Subject> = sizes.iter().map(|&size| subject(size)).collect();
    for subject in &subjects {
        (0..subject.users.len().max(20_000)).for_each(|number| subject.decide(number));
    }
    runner.medians(sizes.len(), |side, span| subjects[side].nanoseconds(span / 2))
}
