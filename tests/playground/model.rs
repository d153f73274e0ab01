//! What the five algorithms do with requests, worked out anew from what each is said to do: from all that came, without state.

use crate::playground::stage::Seen;

const SECOND: u64 = 1_000_000;

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Admitted,
    Queued { leaves: u64 },
    Refused,
}

/// Times are in microseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) limit: u64,
    pub(crate) window: u64,
    pub(crate) capacity: u64,
    pub(crate) buckets: u64,
}

/// What the page plays unless it is told otherwise.
pub(crate) const USUAL: Terms = Terms {
    limit: 10,
    window: 10 * SECOND,
    capacity: 10,
    buckets: 1,
};

type Admits = fn(&Terms, admitted: &[u64], now: u64) -> Option<Fate>;

/// In the order of the lanes.
const LANES: [(&str, Admits); 5] = [
    ("token_bucket", Terms::token_bucket),
    ("leaky_bucket", Terms::leaky_bucket),
    ("fixed_window", Terms::fixed_window),
    ("sliding_log", Terms::sliding_log),
    ("sliding_counter", Terms::sliding_counter),
];

impl Terms {
    /// As many as the limit in the tenth of a window before its first edge, and as many in the tenth after it.
    pub(crate) fn across_the_edge(&self) -> Vec<u64> {
        let tenth = self.window / 10;
        let sides = [self.window - tenth, self.window].into_iter();
        sides
            .flat_map(|begin| (0..self.limit).map(move |nth| begin + nth * tenth / self.limit))
            .collect()
    }

    /// What became of these requests, a list per lane.
    pub(crate) fn fates(&self, times: &[u64]) -> [Vec<Fate>; 5] {
        LANES.map(|(_, admits)| {
            let mut admitted = Vec::new();
            let decide = |&now: &u64| {
                let fate = admits(self, &admitted, now).unwrap_or(Fate::Refused);
                if fate != Fate::Refused {
                    admitted.push(now);
                }
                fate
            };
            times.iter().map(decide).collect()
        })
    }

    /// What the lanes show at this time of these requests.
    pub(crate) fn seen(&self, times: &[u64], now: u64) -> Vec<Seen> {
        let lanes = LANES.into_iter().zip(self.fates(times));
        let seen = lanes.map(|((name, _), fates)| {
            let passed = fates.iter().zip(times).filter_map(|(fate, at)| match fate {
                Fate::Admitted => Some(*at),
                Fate::Queued { leaves } => Some(*leaves).filter(|leaves| *leaves <= now),
                Fate::Refused => None,
            });
            let passed: Vec<u64> = passed.collect();
            let most = |length| {
                let within = |first: &u64| passed.iter().filter(|at| (*first..first + length).contains(at)).count();
                passed.iter().map(within).max().unwrap_or(0)
            };
            let count = |which: fn(&Fate) -> bool| fates.iter().filter(|fate| which(fate)).count();
            let in_window = most(self.window);
            let limit = self.limit as usize;
            Seen {
                name: name.into(),
                admitted: count(|fate| *fate == Fate::Admitted),
                queued: count(|fate| matches!(fate, Fate::Queued { .. })),
                refused: count(|fate| *fate == Fate::Refused),
                unchecked: 0,
                in_span: most(self.window / 5),
                in_window,
                badge: match in_window.checked_sub(limit) {
                    None | Some(0) => String::new(),
                    Some(over) => format!("{over} over the limit"),
                },
            }
        });
        seen.collect()
    }

    /// What is owed for those who were admitted, where a request owes `window`, and `limit` is paid in a microsecond.
    fn owed(&self, admitted: &[u64], now: u64) -> u64 {
        let (owed, last) = admitted.iter().fold((0_u64, 0), |(owed, last), &at| {
            (owed.saturating_sub((at - last) * self.limit) + self.window, at)
        });
        owed.saturating_sub((now - last) * self.limit)
    }

    fn token_bucket(&self, admitted: &[u64], now: u64) -> Option<Fate> {
        let fits = self.owed(admitted, now) + self.window <= self.capacity * self.window;
        fits.then_some(Fate::Admitted)
    }

    fn leaky_bucket(&self, admitted: &[u64], now: u64) -> Option<Fate> {
        self.token_bucket(admitted, now)?;
        Some(match self.owed(admitted, now).div_ceil(self.limit) {
            0 => Fate::Admitted,
            held => Fate::Queued { leaves: now + held },
        })
    }

    fn fixed_window(&self, admitted: &[u64], now: u64) -> Option<Fate> {
        self.admits(admitted.iter().filter(|at| *at / self.window == now / self.window))
    }

    fn sliding_log(&self, admitted: &[u64], now: u64) -> Option<Fate> {
        self.admits(admitted.iter().filter(|at| *at + self.window > now))
    }

    fn sliding_counter(&self, admitted: &[u64], now: u64) -> Option<Fate> {
        let width = self.window / self.buckets;
        // How many sub-windows ago, in a time that has had enough of them.
        let back = |at: &&u64| now / width - *at / width;
        let whole = admitted.iter().filter(|at| back(at) < self.buckets).count() as u64;
        let oldest = admitted.iter().filter(|at| back(at) == self.buckets).count() as u64;
        let used = whole + oldest * (width - now % width) / width;
        (used < self.limit).then_some(Fate::Admitted)
    }

    fn admits<'a>(&self, counted: impl Iterator<Item = &'a u64>) -> Option<Fate> {
        (counted.count() < self.limit as usize).then_some(Fate::Admitted)
    }
}
