//! Runs measurements: in short rounds, the sides in turn, the median of each.
//!
//! A machine's speed varies over seconds. Alternating rounds expose both sides to the same conditions, and a median ignores
//! outliers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::{runtime::Runtime, task::JoinSet};

use crate::rng::Rng;

/// The results of two sides.
#[derive(Clone, Copy)]
pub struct Pair {
    pub ours: f64,
    pub other: f64,
}

/// The number and length of rounds, and the runtime that both sides run on.
pub struct Runner {
    pub rounds: usize,
    /// The length of one round of one side.
    pub span: Duration,
    pub runtime: Runtime,
}

impl Runner {
    pub fn new(rounds: usize, span: Duration) -> Self {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().expect("a runtime");
        Self { rounds, span, runtime }
    }

    /// The medians of several sides that alternate. `measure` takes the side and how long to measure it; a first round warms up.
    pub fn medians(&self, sides: usize, measure: impl FnMut(usize, Duration) -> f64) -> Vec<f64> {
        medians(self.rounds, self.span, sides, measure)
    }

    /// The medians of our side and the other.
    pub fn alternate(&self, ours: impl FnMut(Duration) -> f64, other: impl FnMut(Duration) -> f64) -> Pair {
        alternate(self.rounds, self.span, ours, other)
    }

    /// The same in more and shorter rounds, for sides that differ by less than the machine's speed does from second to second.
    pub fn alternate_quickly(&self, ours: impl FnMut(Duration) -> f64, other: impl FnMut(Duration) -> f64) -> Pair {
        const SHORTER: usize = 10;
        alternate(SHORTER * self.rounds, self.span / SHORTER as u32, ours, other)
    }

    /// The throughput of `tasks` closed-loop tasks. A request takes a random number to select its key by, from the same sequence
    /// in every round.
    pub fn requests_per_second<F>(
        &self,
        tasks: usize,
        span: Duration,
        request: &(impl Fn(usize) -> F + Clone + Send + Sync + 'static),
    ) -> f64
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (start, stop) = (Instant::now(), Arc::new(AtomicBool::new(false)));
        let mut running = JoinSet::new();
        for task in 0..tasks {
            let (request, stop, mut rng) = (request.clone(), Arc::clone(&stop), Rng::new(task));
            let client = async move {
                let mut done = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    request(rng.next()).await;
                    done += 1;
                }
                done
            };
            running.spawn_on(client, self.runtime.handle());
        }
        // Not by a timer of the runtime, whose workers may be too busy to poll it.
        thread::sleep(span);
        stop.store(true, Ordering::Relaxed);
        let done: u64 = self.runtime.block_on(running.join_all()).into_iter().sum();
        done as f64 / start.elapsed().as_secs_f64()
    }
}

fn alternate(
    rounds: usize,
    span: Duration,
    mut ours: impl FnMut(Duration) -> f64,
    mut other: impl FnMut(Duration) -> f64,
) -> Pair {
    let medians = medians(
        rounds,
        span,
        2,
        |side, span| if side == 0 { ours(span) } else { other(span) },
    );
    Pair {
        ours: medians[0],
        other: medians[1],
    }
}

fn medians(rounds: usize, span: Duration, sides: usize, mut measure: impl FnMut(usize, Duration) -> f64) -> Vec<f64> {
    let mut measured = vec![Vec::with_capacity(rounds); sides];
    for side in 0..sides {
        measure(side, span / 2);
    }
    for round in 0..rounds {
        for turn in 0..sides {
            // The order alternates from round to round.
            let side = if round % 2 == 0 { turn } else { sides - 1 - turn };
            measured[side].push(measure(side, span));
        }
    }
    measured.into_iter().map(median).collect()
}

pub fn median(mut measured: Vec<f64>) -> f64 {
    measured.sort_by(f64::total_cmp);
    measured[measured.len() / 2]
}
