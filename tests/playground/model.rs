//! A reference model of the six algorithms, computed from all admitted requests, without incremental state.

use crate::playground::page::LaneCounts;

const SECOND: u64 = 1_000_000;

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Admitted,
    Queued { released_at: u64 },
    Denied,
}

/// Times are in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) limit: u64,
    pub(crate) window: u64,
    pub(crate) capacity: u64,
    pub(crate) sub_windows: u64,
    /// 0 for none.
    pub(crate) lease: u64,
    /// How long a request takes.
    pub(crate) duration: u64,
}

/// The page's default settings.
pub(crate) const DEFAULTS: Settings = Settings {
    limit: 10,
    window: 10 * SECOND,
    capacity: 10,
    sub_windows: 1,
    lease: 0,
    duration: SECOND / 2,
};

type Algorithm = fn(&Settings, admitted: &[u64], now: u64) -> Option<Outcome>;

/// In the order of the lanes.
const LANES: [(&str, Algorithm); 6] = [
    ("token_bucket", Settings::token_bucket),
    ("leaky_bucket", Settings::leaky_bucket),
    ("fixed_window", Settings::fixed_window),
    ("sliding_log", Settings::sliding_log),
    ("sliding_counter", Settings::sliding_counter),
    ("concurrency", Settings::concurrency),
];

impl Settings {
    /// The times of `limit` requests in the tenth of a window before its first edge, and of as many in the tenth after it.
    pub(crate) fn across_the_edge(&self) -> Vec<u64> {
        let tenth = self.window / 10;
        let sides = [self.window - tenth, self.window].into_iter();
        sides
            .flat_map(|begin| (0..self.limit).map(move |nth| begin + nth * tenth / self.limit))
            .collect()
    }

    /// The outcomes of these requests, per lane.
    pub(crate) fn outcomes(&self, times: &[u64]) -> [Vec<Outcome>; 6] {
        LANES.map(|(_, admits)| {
            let mut admitted = Vec::new();
            let decide = |&now: &u64| {
                let outcome = admits(self, &admitted, now).unwrap_or(Outcome::Denied);
                if outcome != Outcome::Denied {
                    admitted.push(now);
                }
                outcome
            };
            times.iter().map(decide).collect()
        })
    }

    /// What the lanes show at this time, after these requests.
    pub(crate) fn lanes(&self, times: &[u64], now: u64) -> Vec<LaneCounts> {
        let lanes = LANES.into_iter().zip(self.outcomes(times));
        let seen = lanes.map(|((name, _), outcomes)| {
            let passed = outcomes.iter().zip(times).filter_map(|(outcome, at)| match outcome {
                Outcome::Admitted => Some(*at),
                Outcome::Queued { released_at } => Some(*released_at).filter(|released_at| *released_at <= now),
                Outcome::Denied => None,
            });
            let passed: Vec<u64> = passed.collect();
            let max_in = |length| {
                let within = |first: &u64| passed.iter().filter(|at| (*first..first + length).contains(at)).count();
                passed.iter().map(within).max().unwrap_or(0)
            };
            let count = |which: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| which(outcome)).count();
            let in_window = max_in(self.window);
            let limit = self.limit as usize;
            LaneCounts {
                name: name.into(),
                admitted: count(|outcome| *outcome == Outcome::Admitted),
                queued: count(|outcome| matches!(outcome, Outcome::Queued { .. })),
                denied: count(|outcome| *outcome == Outcome::Denied),
                unchecked: 0,
                in_span: max_in(self.window / 5),
                in_window,
                badge: match in_window.checked_sub(limit) {
                    // What passes in a window is not limited.
                    _ if name == "concurrency" => String::new(),
                    None | Some(0) => String::new(),
                    Some(over) => format!("{over} over the limit"),
                },
            }
        });
        seen.collect()
    }

    /// The backlog of the admitted requests: each adds `window`, and `limit` drains per microsecond.
    fn backlog(&self, admitted: &[u64], now: u64) -> u64 {
        let (backlog, last) = admitted.iter().fold((0_u64, 0), |(backlog, last), &at| {
            (backlog.saturating_sub((at - last) * self.limit) + self.window, at)
        });
        backlog.saturating_sub((now - last) * self.limit)
    }

    fn fits(&self, admitted: &[u64], now: u64, capacity: u64) -> bool {
        self.backlog(admitted, now) + self.window <= capacity * self.window
    }

    /// A lease takes what drains in its time from the capacity, unless nothing would be left.
    fn token_bucket(&self, admitted: &[u64], now: u64) -> Option<Outcome> {
        let drained = (self.lease * self.limit).div_ceil(self.window);
        let leased = self.capacity.checked_sub(drained).filter(|left| *left > 0);
        let fits = self.fits(admitted, now, leased.unwrap_or(self.capacity));
        fits.then_some(Outcome::Admitted)
    }

    /// A queue is not leased.
    fn leaky_bucket(&self, admitted: &[u64], now: u64) -> Option<Outcome> {
        self.fits(admitted, now, self.capacity).then_some(())?;
        Some(match self.backlog(admitted, now).div_ceil(self.limit) {
            0 => Outcome::Admitted,
            wait => Outcome::Queued {
                released_at: now + wait,
            },
        })
    }

    fn fixed_window(&self, admitted: &[u64], now: u64) -> Option<Outcome> {
        self.admits(admitted.iter().filter(|at| *at / self.window == now / self.window))
    }

    /// A lease extends the window.
    fn sliding_log(&self, admitted: &[u64], now: u64) -> Option<Outcome> {
        self.admits(admitted.iter().filter(|at| *at + self.window + self.lease > now))
    }

    fn sliding_counter(&self, admitted: &[u64], now: u64) -> Option<Outcome> {
        let width = self.window / self.sub_windows;
        // The age in sub-windows.
        let age = |at: &&u64| now / width - *at / width;
        let whole = admitted.iter().filter(|at| age(at) < self.sub_windows).count() as u64;
        let oldest = admitted.iter().filter(|at| age(at) == self.sub_windows).count() as u64;
        let used = whole + oldest * (width - now % width) / width;
        (used < self.limit).then_some(Outcome::Admitted)
    }

    /// A slot is free again at the time when its request ends.
    fn concurrency(&self, admitted: &[u64], now: u64) -> Option<Outcome> {
        self.admits(admitted.iter().filter(|at| *at + self.duration > now))
    }

    fn admits<'a>(&self, counted: impl Iterator<Item = &'a u64>) -> Option<Outcome> {
        (counted.count() < self.limit as usize).then_some(Outcome::Admitted)
    }
}
