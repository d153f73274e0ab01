//! In memory: nanoseconds a decision of one thread.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use tollgate::{
    Algorithm, Charge, Charges, Key, Limit, ManualClock, MemoryStore, Operation, Quota, SlidingCounter, SlidingLog,
    Store, TokenBucket,
};

use super::SUB_WINDOWED;
use crate::{bench::Bench, picks::Picks, tier::never_refuses};

/// How many decisions are made between two looks at the clock.
const AT_ONCE: u32 = 256;

/// One thing to measure: a store, and what a request is charged.
struct Subject {
    store: MemoryStore,
    tiers: Vec<Limit>,
    users: Vec<Key>,
    /// Set on by a millisecond from one decision to the next, where time is not the system's.
    clock: Option<ManualClock>,
}

impl Subject {
    fn new(tiers: Vec<Limit>, users: usize) -> Self {
        Self {
            // With room to spare, so that no shard is full before the others.
            store: MemoryStore::builder()
                .max_keys(2 * users.max(1024) * tiers.len())
                .build(),
            tiers,
            users: (0..users).map(|user| Key::new(format!("user:{user}"))).collect(),
            clock: None,
        }
    }

    fn one(algorithm: impl Algorithm, users: usize) -> Self {
        Self::new(vec![Limit::new("user", algorithm)], users)
    }

    fn by_hand(mut self) -> Self {
        let clock = ManualClock::at(0);
        self.store = MemoryStore::builder().clock(clock.clone()).build();
        self.clock = Some(clock);
        self
    }

    fn decide(&self, pick: usize) {
        if let Some(clock) = &self.clock {
            clock.advance(Duration::from_millis(1));
        }
        let user = &self.users[pick % self.users.len()];
        let mut charges = Charges::new();
        for limit in &self.tiers {
            charges
                .push(Charge::new(limit.clone(), user.clone()))
                .expect("tiers have names of their own");
        }
        let decision = self.store.apply(Operation::Acquire(charges)).into_inner();
        assert!(black_box(decision).expect("it cannot fail").admits());
    }

    fn nanoseconds(&self, span: Duration) -> f64 {
        let (start, mut picks, mut decisions) = (Instant::now(), Picks::new(0), 0);
        while start.elapsed() < span {
            (0..AT_ONCE).for_each(|_| self.decide(picks.next()));
            decisions += AT_ONCE;
        }
        start.elapsed().as_nanos() as f64 / f64::from(decisions)
    }
}

/// A token lasts an hour: of a million keys, each is picked seldom, and may not have lapsed by then.
pub fn keys(bench: &Bench, sizes: &[usize]) -> Vec<f64> {
    let lasting = TokenBucket::with_capacity(Quota::per_hour(1), 1_000_000);
    measure(bench, sizes, |keys| Subject::one(lasting, keys))
}

pub fn tiers(bench: &Bench, sizes: &[usize]) -> Vec<f64> {
    measure(bench, sizes, |tiers| {
        let limits = (1..=tiers).map(|tier| Limit::new(&format!("tier-{tier}"), never_refuses()));
        Subject::new(limits.collect(), 1000)
    })
}

pub fn log_limit(bench: &Bench, sizes: &[usize]) -> Vec<f64> {
    measure(bench, sizes, |limit| {
        let quota = Quota::new(limit as u32, Duration::from_millis(limit as u64));
        Subject::one(SlidingLog::new(quota), 1).by_hand()
    })
}

pub fn sub_windows(bench: &Bench, sizes: &[usize]) -> Vec<f64> {
    measure(bench, sizes, |buckets| {
        let quota = Quota::new(u32::MAX, SUB_WINDOWED);
        Subject::one(SlidingCounter::new(quota).buckets(buckets as u32), 1).by_hand()
    })
}

/// Each size in turn, after every user has been charged often enough to fill what can be filled.
fn measure(bench: &Bench, sizes: &[usize], subject: impl Fn(usize) -> Subject) -> Vec<f64> {
    let subjects: Vec<Subject> = sizes.iter().map(|&size| subject(size)).collect();
    for subject in &subjects {
        (0..subject.users.len().max(20_000)).for_each(|pick| subject.decide(pick));
    }
    bench.medians(sizes.len(), |side, span| subjects[side].nanoseconds(span / 2))
}
