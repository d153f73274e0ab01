//! In Redis: microseconds a decision when 64 tasks ask for as many as they can get.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tollgate::{ManualClock, Quota, SlidingCounter, SlidingLog};

use super::SUB_WINDOWED;
use crate::{
    bench::Bench,
    redis::Ours,
    server::RedisServer,
    tier::{self, Tier},
};

const TASKS: usize = 64;
/// So few that each comes by in every sub-window.
const USERS: usize = 8;

pub fn tiers(bench: &Bench, sizes: &[usize]) -> Vec<f64> {
    by_the_clock(bench, sizes, tier::tiers)
}

pub fn sub_windows(bench: &Bench, sizes: &[usize]) -> Vec<f64> {
    by_the_clock(bench, sizes, |buckets| {
        let quota = Quota::new(u32::MAX, SUB_WINDOWED);
        let counter = SlidingCounter::new(quota).buckets(buckets as u32);
        vec![Tier::new("user", counter, USERS)]
    })
}

/// Each size in turn, on Redis's own clock.
fn by_the_clock(bench: &Bench, sizes: &[usize], tiers: impl Fn(usize) -> Vec<Tier>) -> Vec<f64> {
    let server = RedisServer::start();
    let sides = sizes.iter().map(|&size| {
        let store = server.store().prefix(format!("size-{size}")).build();
        Ours::new(store.expect("the settings are valid"), &tiers(size))
    });
    let sides: Vec<Ours> = sides.collect();
    bench.medians(sizes.len(), |side, span| {
        let ours = sides[side].clone();
        let ask = move |pick| {
            let answer = ours.clone().acquire(pick);
            async move { assert!(answer.await) }
        };
        1e6 / bench.requests_a_second(TASKS, span, &ask)
    })
}

/// How many keys have a log of their own, which are charged in turn.
const LOGS: usize = TASKS;
/// How many entries a log lacks to be full: requests that overtake one another are not to be refused.
const SPARE: usize = 2;

/// Each size in turn, on a clock that is set by hand: it moves on by a millisecond with every request, so that a key
/// whose turn comes again has just lost its oldest entry.
pub fn log_limit(bench: &Bench, sizes: &[usize]) -> Vec<f64> {
    let server = RedisServer::start();
    let sides: Vec<Log> = sizes.iter().map(|&limit| Log::new(bench, &server, limit)).collect();
    bench.medians(sizes.len(), |side, span| {
        let log = sides[side].clone();
        let ask = move |_| log.clone().turn();
        1e6 / bench.requests_a_second(TASKS, span, &ask)
    })
}

#[derive(Clone)]
struct Log {
    ours: Ours,
    clock: ManualClock,
    turn: Arc<AtomicUsize>,
}

impl Log {
    fn new(bench: &Bench, server: &RedisServer, limit: usize) -> Self {
        let clock = ManualClock::at(1_700_000_000_000_000);
        let store = server
            .store()
            .prefix(format!("size-{limit}"))
            .clock(clock.clone())
            .build();
        let window = Duration::from_millis(((limit - SPARE) * LOGS) as u64);
        let tier = Tier::new("user", SlidingLog::new(Quota::new(limit as u32, window)), LOGS);
        let log = Self {
            ours: Ours::new(store.expect("the settings are valid"), &[tier]),
            clock,
            turn: Arc::default(),
        };
        bench.runtime.block_on(log.fill(limit - SPARE));
        log
    }

    /// Fills all logs over the time of one window.
    async fn fill(&self, entries: usize) {
        for _ in 0..entries {
            assert!(self.ours.acquire_all().await);
            self.clock.advance(Duration::from_millis(LOGS as u64));
        }
    }

    async fn turn(self) {
        self.clock.advance(Duration::from_millis(1));
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        assert!(self.ours.acquire(turn).await);
    }
}
