//! Sliding window log: the time of every admitted request, and so the exact truth.

use std::{collections::VecDeque, fmt};

use super::{
    Algorithm, Mark, Rule,
    counting::{bounded_surplus, remaining},
    sealed::Sealed,
};
use crate::{
    invalid::{self, Invalid},
    quota::{Cost, Quota},
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// The largest limit: each admitted unit of cost is an entry that is kept for a window.
const LARGEST: u32 = 65_536;

/// Never lets more than `limit` through in any `window`, by remembering when each was admitted.
///
/// Choose it where the limit is small and has to hold in every window, wherever it begins: logins, payments. An entry
/// exactly one window old is gone, and refused requests are not remembered.
///
/// ```
/// use tollgate::{Algorithm, Quota, SlidingLog};
///
/// let limit = SlidingLog::new(Quota::per_minute(2));
/// let mut state = Default::default();
/// let mut passes = |second: u64| limit.acquire(&mut state, second * 1_000_000, 1).0.outcome().admits();
/// assert_eq!([0, 50, 59, 60, 61, 110].map(&mut passes), [true, true, false, true, false, true]);
/// assert!(SlidingLog::try_new(Quota::per_day(1_000_000)).is_err()); // too many to remember
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlidingLog {
    pub(crate) quota: Quota,
}

/// A log's state: the admitted times, oldest first, one entry per unit of cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlidingLogState {
    entries: VecDeque<Micros>,
}

impl fmt::Display for SlidingLogState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.entries.iter().enumerate() {
            let separator = if index == 0 { "" } else { " " };
            write!(f, "{separator}{entry}")?;
        }
        Ok(())
    }
}

impl SlidingLog {
    /// A log of the quota's requests.
    ///
    /// # Panics
    /// Where [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(quota: Quota) -> Self {
        invalid::expect(Self::try_new(quota))
    }

    /// A log of the quota's requests, of which there can be 65,536 at the most.
    pub fn try_new(quota: Quota) -> Result<Self, Invalid> {
        if quota.limit() > LARGEST {
            let must = "be from 1 to 65536, since a log keeps an entry for each (a sliding_counter does not)";
            return Err(Invalid::new("limit", quota.limit(), must));
        }
        Ok(Self { quota })
    }

    /// How many of the oldest entries are gone, and the time by the log's own reckoning.
    fn gone(&self, state: &SlidingLogState, now: Micros) -> (usize, Micros) {
        let window = self.quota.window_micros();
        let Some(&newest) = state.entries.back() else {
            return (0, now);
        };
        let now = now.max(newest);
        (state.entries.partition_point(|&entry| entry + window <= now), now)
    }

    /// Drops the `gone` oldest and adds `now` so many times, and gives memory back after a burst.
    fn roll(state: &mut SlidingLogState, gone: usize, now: Micros, times: u64) {
        state.entries.drain(..gone);
        state.entries.extend((0..times).map(|_| now));
        if state.entries.capacity() > 64.max(8 * state.entries.len()) {
            state.entries.shrink_to(2 * state.entries.len());
        }
    }
}

impl Sealed for SlidingLog {}

impl Algorithm for SlidingLog {
    type State = SlidingLogState;

    fn peek(&self, state: &SlidingLogState, now: Micros, cost: Cost) -> Verdict {
        let (limit, window) = (self.quota.limit(), self.quota.window_micros());
        let (gone, now) = self.gone(state, now);
        let count = (state.entries.len() - gone) as u64;
        let as_it_stands = |outcome| Verdict {
            outcome,
            remaining: remaining(limit, count),
            reset_after: match state.entries.back() {
                Some(newest) if count > 0 => newest + window - now,
                _ => 0,
            },
        };
        if cost > limit {
            return as_it_stands(Outcome::Impossible);
        }
        if cost == 0 {
            return as_it_stands(Outcome::Admitted { delay: 0 });
        }
        let used = count + u64::from(cost);
        if used > u64::from(limit) {
            let must_leave = (used - u64::from(limit)) as usize;
            let retry_after = state.entries[gone + must_leave - 1] + window - now;
            return as_it_stands(Outcome::Limited { retry_after });
        }
        Verdict {
            outcome: Outcome::Admitted { delay: 0 },
            remaining: remaining(limit, used),
            reset_after: window,
        }
    }

    fn commit(&self, state: &mut SlidingLogState, now: Micros, cost: Cost) -> Mark {
        let (gone, now) = self.gone(state, now);
        Self::roll(state, gone, now, u64::from(cost));
        Mark {
            at: now,
            place: 0,
            unit: 0,
        }
    }

    fn refund(&self, state: &mut SlidingLogState, now: Micros, mark: Mark, cost: Cost) {
        let (gone, _) = self.gone(state, now);
        let first = state.entries.partition_point(|&entry| entry < mark.at);
        let after = state.entries.partition_point(|&entry| entry <= mark.at);
        if first >= gone {
            let given = (after - first).min(cost as usize);
            state.entries.drain(first..first + given);
            if given > 0 {
                Self::roll(state, gone, now, 0);
            }
        }
    }

    fn overcharge(&self, state: &mut SlidingLogState, now: Micros, surplus: Cost) {
        let (gone, now) = self.gone(state, now);
        let count = (state.entries.len() - gone) as u64;
        let surplus = bounded_surplus(self.quota.limit(), count, surplus);
        if surplus > 0 {
            Self::roll(state, gone, now, surplus);
        }
    }

    fn expires_at(&self, state: &SlidingLogState) -> Micros {
        match state.entries.back() {
            None => 0,
            Some(newest) => newest + self.quota.window_micros(),
        }
    }

    fn rule(&self) -> Rule {
        Rule::SlidingLog(*self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gives_memory_back_after_a_burst() {
        let log = SlidingLog::new(Quota::per_second(LARGEST));
        let mut state = SlidingLogState::default();
        log.commit(&mut state, 0, LARGEST);
        log.commit(&mut state, 1_000_000, 3);
        assert_eq!(state.entries, [1_000_000; 3]);
        assert!(state.entries.capacity() <= 64);
    }
}
