//! How everything is measured: in short rounds, the sides in turn, the median of each.
//!
//! A machine has moods that last for seconds. Rounds that take turns share them fairly, and a median forgets the worst.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, task::JoinSet};

use crate::picks::Picks;

/// What was measured of two sides.
#[derive(Clone, Copy)]
pub struct Pair {
    pub ours: f64,
    pub other: f64,
}

/// How long and how often to measure, and the runtime that both sides run on.
pub struct Bench {
    pub rounds: usize,
    /// How long one round of one side takes.
    pub span: Duration,
    pub runtime: Runtime,
}

impl Bench {
    pub fn new(rounds: usize, span: Duration) -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime");
        Self { rounds, span, runtime }
    }

    /// The medians of several sides that take turns. Each is told how long to measure; the first turn warms up.
    pub fn medians(&self, sides: usize, mut measure: impl FnMut(usize, Duration) -> f64) -> Vec<f64> {
        let mut measured = vec![Vec::with_capacity(self.rounds); sides];
        for side in 0..sides {
            measure(side, self.span / 2);
        }
        for round in 0..self.rounds {
            for turn in 0..sides {
                // Whoever goes first in one round goes last in the next.
                let side = if round % 2 == 0 { turn } else { sides - 1 - turn };
                measured[side].push(measure(side, self.span));
            }
        }
        measured.into_iter().map(median).collect()
    }

    /// The medians of ours and of the other.
    pub fn in_turn(&self, mut ours: impl FnMut(Duration) -> f64, mut other: impl FnMut(Duration) -> f64) -> Pair {
        let medians = self.medians(2, |side, span| if side == 0 { ours(span) } else { other(span) });
        Pair {
            ours: medians[0],
            other: medians[1],
        }
    }

    /// Requests a second that so many tasks get through, each of which asks again as soon as it is answered. A request
    /// is told a number to pick its key by, the same numbers in every round.
    pub fn requests_a_second<F>(
        &self,
        tasks: usize,
        span: Duration,
        request: &(impl Fn(usize) -> F + Clone + Send + Sync + 'static),
    ) -> f64
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (start, over) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let mut running = JoinSet::new();
        for task in 0..tasks {
            let (request, over, mut picks) = (request.clone(), Arc::clone(&over), Picks::new(task));
            let asking = async move {
                let mut done = 0_u64;
                while !over.load(Ordering::Relaxed) {
                    request(picks.next()).await;
                    done += 1;
                }
                done
            };
            running.spawn_on(asking, self.runtime.handle());
        }
        // By this thread, not by a timer of the runtime: its workers may be too busy to look at one.
        thread::sleep(span);
        over.store(true, Ordering::Relaxed);
        let done: u64 = self.runtime.block_on(running.join_all()).into_iter().sum();
        done as f64 / start.elapsed().as_secs_f64()
    }
}

pub fn median(mut measured: Vec<f64>) -> f64 {
    measured.sort_by(f64::total_cmp);
    measured[measured.len() / 2]
}
