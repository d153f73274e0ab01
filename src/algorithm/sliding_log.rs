//! Sliding window log: the time of every admitted request, for exact counts.

use std::{collections::VecDeque, fmt};

use super::{Algorithm, AnyAlgorithm, Mark, algorithm::Sealed};
use crate::{
    config_error::{self, ConfigError},
    quota::{Cost, Quota},
    time::{MAX_TIMESTAMP, Micros},
    verdict::{RawOutcome, Remaining, Verdict},
};

/// The maximal limit: each admitted unit of cost is an entry that is kept for a window.
const MAX_LIMIT: u32 = 65_536;

/// Admits at most `limit` requests in any `window`, by keeping the time of each.
///
/// Choose it if the limit is small and has to hold in every window, wherever it starts: for logins, payments. An entry expires
/// when it is exactly one window old. Denied requests are not logged.
///
/// ```
/// use tollgate::{Algorithm, Quota, SlidingLog};
///
/// let limit = SlidingLog::new(Quota::per_minute(2));
/// let mut state = Default::default();
/// let mut admits = |second: u64| limit.acquire(&mut state, second * 1_000_000, 1).0.outcome().admits();
/// assert_eq!([0, 50, 59, 60, 61, 110].map(&mut admits), [true, true, false, true, false, true]);
/// assert!(SlidingLog::try_new(Quota::per_day(1_000_000)).is_err()); // too many entries
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlidingLog {
    pub(crate) quota: Quota,
}

/// The state of a log: the times of admitted requests, oldest first, one entry per unit of cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlidingLogState {
    entries: VecDeque<Micros>,
}

impl SlidingLogState {
    /// The state of these numbers, as it is displayed; `None` if no log has such a state.
    pub(super) fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let is_valid = numbers.is_sorted() && numbers.last().is_some_and(|last| *last <= MAX_TIMESTAMP);
        is_valid.then(|| Self {
            entries: numbers.iter().copied().collect(),
        })
    }
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
    /// A log for this quota.
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(quota: Quota) -> Self {
        config_error::expect(Self::try_new(quota))
    }

    /// A log for this quota, or an error if its limit exceeds 65,536.
    pub fn try_new(quota: Quota) -> Result<Self, ConfigError> {
        if quota.limit() > MAX_LIMIT {
            let must = "be from 1 to 65536, since a log keeps an entry for each (a sliding_counter does not)";
            return Err(ConfigError::new("limit", quota.limit(), must));
        }
        Ok(Self { quota })
    }

    /// The number of expired entries, and the effective time: not before the newest entry.
    fn expired(&self, state: &SlidingLogState, now: Micros) -> (usize, Micros) {
        let window = self.quota.window_micros();
        let Some(&newest) = state.entries.back() else {
            return (0, now);
        };
        let now = now.max(newest);
        (state.entries.partition_point(|&entry| entry + window <= now), now)
    }

    /// Drops the `expired` oldest entries, adds `count` at `now`, and releases unused memory after a burst.
    fn roll(state: &mut SlidingLogState, expired: usize, now: Micros, count: u64) {
        state.entries.drain(..expired);
        state.entries.extend((0..count).map(|_| now));
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
        let (expired, now) = self.expired(state, now);
        let count = (state.entries.len() - expired) as u64;
        // What this request adds is the newest.
        let remaining = |outcome, used: u64| {
            Remaining::new(self.quota.remaining(used), outcome, || {
                let excess = (used - u64::from(limit)) as usize;
                state.entries.get(expired + excess).unwrap_or(&now) + window - now
            })
        };
        let uncharged = |outcome| Verdict {
            outcome,
            remaining: remaining(outcome, count),
            reset_after: match state.entries.back() {
                Some(newest) if count > 0 => newest + window - now,
                _ => 0,
            },
        };
        if cost > limit {
            return uncharged(RawOutcome::Impossible);
        }
        if cost == 0 {
            return uncharged(RawOutcome::Admitted { delay: 0 });
        }
        let used = count + u64::from(cost);
        if used > u64::from(limit) {
            let excess = (used - u64::from(limit)) as usize;
            let retry_after = state.entries[expired + excess - 1] + window - now;
            return uncharged(RawOutcome::Limited { retry_after });
        }
        let outcome = RawOutcome::Admitted { delay: 0 };
        Verdict {
            outcome,
            remaining: remaining(outcome, used),
            reset_after: window,
        }
    }

    fn commit(&self, state: &mut SlidingLogState, now: Micros, cost: Cost) -> Mark {
        let (expired, now) = self.expired(state, now);
        Self::roll(state, expired, now, u64::from(cost));
        Mark::new(now, 0, 0)
    }

    fn refund(&self, state: &mut SlidingLogState, now: Micros, mark: Mark, cost: Cost) {
        let (expired, _) = self.expired(state, now);
        let first = state.entries.partition_point(|&entry| entry < mark.at);
        let after = state.entries.partition_point(|&entry| entry <= mark.at);
        if first >= expired {
            let refunded = (after - first).min(cost as usize);
            state.entries.drain(first..first + refunded);
            if refunded > 0 {
                Self::roll(state, expired, now, 0);
            }
        }
    }

    fn overcharge(&self, state: &mut SlidingLogState, now: Micros, surplus: Cost) {
        let (expired, now) = self.expired(state, now);
        let count = (state.entries.len() - expired) as u64;
        let surplus = self.quota.bounded_surplus(count, surplus);
        if surplus > 0 {
            Self::roll(state, expired, now, surplus);
        }
    }

    fn expires_at(&self, state: &SlidingLogState) -> Micros {
        match state.entries.back() {
            None => 0,
            Some(newest) => newest + self.quota.window_micros(),
        }
    }

    fn to_any(&self) -> AnyAlgorithm {
        AnyAlgorithm::SlidingLog(*self)
    }
}

#[cfg(test)]
mod tests;
