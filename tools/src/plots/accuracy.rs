//! How often the sliding counter decides otherwise than the exact log, on the heavy-tailed trace.

use std::{num::NonZero, thread};

use tollgate::{Algorithm, Micros, Quota, SlidingCounter, SlidingLog};

use crate::trace::{CLIENTS, arrivals};

/// A counter beside a log, with the same limit a minute.
#[derive(Clone, Copy)]
pub(crate) struct Trial {
    pub(crate) limit: u32,
    pub(crate) sub_windows: u32,
    pub(crate) role: Role,
}

/// What a limit is there for.
#[derive(Clone, Copy)]
pub(crate) enum Role {
    /// It refuses, and counts what it has let through.
    InForce,
    /// It only watches, and counts all that comes, whether that would have been refused or not.
    Watching,
}

/// What came of a trial, in requests.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Refused by the log, which is always right.
    pub(crate) refused: u64,
    /// Let through by the counter, and refused by the log.
    pub(crate) wrongly_through: u64,
    /// Refused by the counter, and let through by the log.
    pub(crate) wrongly_refused: u64,
}

impl Tally {
    /// How many decisions were wrong.
    pub(crate) fn wrong(&self) -> u64 {
        self.wrongly_through + self.wrongly_refused
    }

    fn add(&mut self, other: &Self) {
        self.refused += other.refused;
        self.wrongly_through += other.wrongly_through;
        self.wrongly_refused += other.wrongly_refused;
    }
}

/// How many requests there are, and what came of each trial. Clients have nothing to do with each other, so every core takes
/// its share of them.
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
        let shares = shares.into_iter().map(|share| share.join().expect("it only counts"));
        let sum = shares.reduce(|mut sum, share| {
            sum.0 += share.0;
            sum.1.iter_mut().zip(&share.1).for_each(|(sum, tally)| sum.add(tally));
            sum
        });
        sum.expect("there is a core")
    })
}

impl Trial {
    /// One client's requests.
    fn run(&self, arrivals: &[Micros], tally: &mut Tally) {
        // Who sends no more than the limit in all is refused by neither.
        if arrivals.len() <= self.limit as usize {
            return;
        }
        // Who only watches has a limit that nobody reaches, and looks at how much of it is used.
        const UNREACHED: u32 = 1 << 16;
        let (limit, spare) = match self.role {
            Role::InForce => (self.limit, 0),
            Role::Watching => (UNREACHED, u64::from(UNREACHED - self.limit)),
        };
        let quota = Quota::per_minute(limit);
        let counter = SlidingCounter::new(quota).buckets(self.sub_windows);
        let log = SlidingLog::new(quota);
        let (mut counted, mut logged) = Default::default();
        for &at in arrivals {
            let admits = [
                counter.acquire(&mut counted, at, 1).0,
                log.acquire(&mut logged, at, 1).0,
            ]
            .map(|verdict| verdict.outcome().admits() && verdict.remaining() >= spare);
            match admits {
                [true, false] => tally.wrongly_through += 1,
                [false, true] => tally.wrongly_refused += 1,
                _ => (),
            }
            tally.refused += u64::from(!admits[1]);
        }
    }
}
