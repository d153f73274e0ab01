//! An open loop: requests start at a rate, whether or not earlier ones have ended.

use std::time::Duration;

use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};

use crate::runner::{Pair, Runner, median};

/// The interval in which requests are started together.
const TICK: Duration = Duration::from_millis(1);

pub struct Offered {
    span: Duration,
    pub requests: u64,
    pub decided: u64,
    /// From the start of a request to its decision; infinite if none was decided.
    pub median_milliseconds: f64,
}

impl Offered {
    pub fn decided_per_second(&self) -> f64 {
        self.decided as f64 / self.span.as_secs_f64()
    }

    /// The requests per second that were decided, against those that were offered.
    pub fn decided(&self) -> Pair {
        Pair {
            ours: self.decided_per_second(),
            other: self.requests as f64 / self.span.as_secs_f64(),
        }
    }
}

/// Starts requests, which return whether they were decided.
pub fn offer<F>(runner: &Runner, requests_per_second: u64, span: Duration, request: impl Fn(usize) -> F) -> Offered
where
    F: Future<Output = bool> + Send + 'static,
{
    runner.runtime.block_on(async {
        let (mut running, mut requests) = (JoinSet::new(), 0);
        let start = Instant::now();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while start.elapsed() < span {
            ticks.tick().await;
            let due = start.elapsed().as_micros() as u64 * requests_per_second / 1_000_000;
            for number in requests..due {
                let request = request(number as usize);
                running.spawn(async move {
                    let start = Instant::now();
                    request.await.then(|| start.elapsed().as_secs_f64() * 1e3)
                });
            }
            requests = due;
        }
        let milliseconds: Vec<f64> = running.join_all().await.into_iter().flatten().collect();
        Offered {
            span,
            requests,
            decided: milliseconds.len() as u64,
            median_milliseconds: if milliseconds.is_empty() {
                f64::INFINITY
            } else {
                median(milliseconds)
            },
        }
    })
}
