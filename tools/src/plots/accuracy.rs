//! How often the sliding counter's decision differs from the exact log's, on the heavy-tailed trace.

use std::{num::NonZero, thread};

use tollgate::{Algorithm, Micros, Quota, SlidingCounter, SlidingLog};

use crate::trace::{CLIENTS, arrivals};

/// A counter and a log with the same limit per minute.
#[derive(Clone, Copy)]
pub(crate) struct Trial {
    pub(crate) limit: u32,
    pub(crate) sub_windows: u32,
    pub(crate) mode: Mode,
}

#[derive(Clone, Copy)]
pub(crate) enum Mode {
    /// The limit denies requests, and counts those that it admitted.
    Enforced,
    /// The limit only observes, and counts every request.
    Observed,
}

/// The result of a trial, in requests.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Denied by the log, which is exact.
    pub(crate) denied: u64,
    /// Admitted by the counter, denied by the log.
    pub(crate) false_admits: u64,
    /// Denied by the counter, admitted by the log.
    pub(crate) false_denials: u64,
}

impl Tally {
    pub(crate) fn errors(&self) -> u64 {
        self.false_admits + self.false_denials
    }

    fn add(&mut self, other: &Self) {
        self.denied += other.denied;
        self.false_admits += other.false_admits;
        self.false_denials += other.false_denials;
    }
}

/// The number of requests, and the result of each trial. Clients are independent, so each core processes a share of them.
pub(crate) fn measure(trials: &[Trial]) -> (u64, Vec<Tally>) {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let share = |first: usize| {
        let mut sum = (0, vec![Tally::default(); trials.len()]);
        for client in (first as u64..CLIENTS).step_by(cores) {
            let arrivals = arrivals(client);
            sum.0 += arrivals.len() as u64;
            for (trial, tally) in trials.iter().zip(&mut sum.1) {
                trial.run(&arrivals, tally);
            }
        }
        sum
    };
    thread::scope(|scope| {
        let shares: Vec<_> = (0..cores).map(|first| scope.spawn(move || share(first))).collect();
        let shares = shares
            .into_iter()
            .map(|share| share.join().expect("the thread did not panic"));
        let sum = shares.reduce(|mut sum, share| {
            sum.0 += share.0;
            sum.1.iter_mut().zip(&share.1).for_each(|(sum, tally)| sum.add(tally));
            sum
        });
        sum.expect("at least one core")
    })
}

impl Trial {
    /// Runs one client's requests.
    fn run(&self, arrivals: &[Micros], tally: &mut Tally) {
        // Neither denies a client that sends at most `limit` requests in total.
        if arrivals.len() <= self.limit as usize {
            return;
        }
        // An observing limit uses a quota that is never reached, and compares what is used with the real one.
        const UNREACHED: u32 = 1 << 16;
        let (limit, spare) = match self.mode {
            Mode::Enforced => (self.limit, 0),
            Mode::Observed => (UNREACHED, u64::from(UNREACHED - self.limit)),
        };
        let quota = Quota::per_minute(limit);
        let counter = SlidingCounter::new(quota).sub_windows(self.sub_windows);
        let log = SlidingLog::new(quota);
        let (mut counter_state, mut log_state) = Default::default();
        for &at in arrivals {
            let admits = [
                counter.acquire(&mut counter_state, at, 1).0,
                log.acquire(&mut log_state, at, 1).0,
            ]
            .map(|verdict| verdict.outcome().admits() && verdict.remaining() >= spare);
            match admits {
                [true, false] => tally.false_admits += 1,
                [false, true] => tally.false_denials += 1,
                _ => (),
            }
            tally.denied += u64::from(!admits[1]);
        }
    }
}
