//! In Redis: microseconds per decision of 64 closed-loop tasks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tollgate::{ManualClock, Quota, SlidingCounter, SlidingLog};

use super::SUB_WINDOWS_WINDOW;
use crate::{
    redis::Ours,
    runner::Runner,
    server::RedisServer,
    tier::{self, Tier},
};

const TASKS: usize = 64;
/// Few enough that each is charged in every sub-window.
const USERS: usize = 8;

pub fn tiers(runner: &Runner, sizes: &[usize]) -> Vec<f64> {
    on_server_clock(runner, sizes, tier::tiers)
}

pub fn sub_windows(runner: &Runner, sizes: &[usize]) -> Vec<f64> {
    on_server_clock(runner, sizes, |sub_windows| {
        let quota = Quota::new(u32::MAX, SUB_WINDOWS_WINDOW);
        let counter = SlidingCounter::new(quota).sub_windows(sub_windows as u32);
        vec![Tier::new("user", counter, USERS)]
    })
}

/// Measures each size in turn, on Redis's clock.
fn on_server_clock(runner: &Runner, sizes: &[usize], tiers: impl Fn(usize) -> Vec<Tier>) -> Vec<f64> {
    let server = RedisServer::start();
    let sides = sizes.iter().map(|&size| {
        let store = server.store().prefix(format!("size-{size}")).build();
        Ours::new(store.expect("valid settings"), &tiers(size))
    });
    let sides: Vec<Ours> = sides.collect();
    runner.medians(sizes.len(), |side, span| {
        let ours = sides[side].clone();
        let acquire = move |number| {
            let admitted = ours.clone().acquire(number);
            async move { assert!(admitted.await) }
        };
        1e6 / runner.requests_per_second(TASKS, span, &acquire)
    })
}

/// The number of logs, which are charged in turn.
const LOGS: usize = TASKS;
/// The free entries of a log, so that requests that overtake one another are not denied.
const SPARE: usize = 2;

/// Measures each size in turn, on a manual clock that advances by a millisecond per request, so that the oldest entry of a log has
/// just expired when the log is charged again.
pub fn log_limit(runner: &Runner, sizes: &[usize]) -> Vec<f64> {
    let server = RedisServer::start();
    let sides: Vec<Log> = sizes.iter().map(|&limit| Log::new(runner, &server, limit)).collect();
    runner.medians(sizes.len(), |side, span| {
        let log = sides[side].clone();
        let acquire = move |_| log.clone().acquire_next();
        1e6 / runner.requests_per_second(TASKS, span, &acquire)
    })
}

#[derive(Clone)]
struct Log {
    ours: Ours,
    clock: ManualClock,
    next: Arc<AtomicUsize>,
}

impl Log {
    fn new(runner: &Runner, server: &RedisServer, limit: usize) -> Self {
        let clock = ManualClock::at(1_700_000_000_000_000);
        let store = server
            .store()
            .prefix(format!("size-{limit}"))
            .clock(clock.clone())
            .build();
        let window = Duration::from_millis(((limit - SPARE) * LOGS) as u64);
        let tier = Tier::new("user", SlidingLog::new(Quota::new(limit as u32, window)), LOGS);
        let log = Self {
            ours: Ours::new(store.expect("valid settings"), &[tier]),
            clock,
            next: Arc::default(),
        };
        runner.runtime.block_on(log.fill(limit - SPARE));
        log
    }

    /// Fills all logs over one window.
    async fn fill(&self, entries: usize) {
        for _ in 0..entries {
            assert!(self.ours.acquire_all().await);
            self.clock.advance(Duration::from_millis(LOGS as u64));
        }
    }

    async fn acquire_next(self) {
        self.clock.advance(Duration::from_millis(1));
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        assert!(self.ours.acquire(number).await);
    }
}
