//! Sliding window counter: a count per sub-window, the oldest weighted by the share of it that is still inside the window.

use std::fmt;

use smallvec::SmallVec;

use super::{Algorithm, AnyAlgorithm, Mark, algorithm::Sealed};
use crate::{
    config_error::{self, ConfigError},
    quota::{Cost, MAX_COUNT, Quota, at_least_one},
    time::{MAX_TIMESTAMP, Micros},
    verdict::{RawOutcome, Remaining, Verdict},
};

/// The maximal number of sub-windows.
const MAX_SUB_WINDOWS: u32 = 64;

/// Admits close to `limit` requests in any `window`, with a few bytes per key, assuming even traffic in each sub-window.
///
/// With one sub-window it is the classic estimate from the current and the previous window; more [`sub_windows`](Self::sub_windows) are
/// closer to the exact log. Choose it if you are not sure: bursts at window boundaries are small, and its state does not grow
/// with the limit.
///
/// ```
/// use tollgate::{Algorithm, Quota, SlidingCounter};
///
/// let limit = SlidingCounter::new(Quota::per_minute(100));
/// let mut state = Default::default();
/// limit.acquire(&mut state, 0, 100);
/// assert_eq!(limit.peek(&state, 75_000_000, 0).remaining(), 25); // a quarter of the next minute has elapsed
/// assert!(limit.try_sub_windows(7).is_err()); // 60 s / 7 is no whole number of microseconds
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlidingCounter {
    pub(crate) quota: Quota,
    pub(crate) sub_windows: u32,
    /// The length of a sub-window.
    pub(crate) width: Micros,
}

/// The state of a counter: the index of the newest sub-window with a count, and the counts from there back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlidingCounterState {
    newest: u64,
    /// Newest first. The first and the last are not 0. Their number is at most that of the sub-windows, plus one.
    counts: SmallVec<[u64; 2]>,
}

impl SlidingCounter {
    /// The state of these numbers, as it is displayed; `None` if this counter has no such state.
    pub(super) fn state_from_numbers(&self, numbers: &[u64]) -> Option<SlidingCounterState> {
        let [newest, counts @ ..] = numbers else {
            return None;
        };
        let (first, last) = (counts.first()?, counts.last()?);
        let is_valid = counts.len() <= self.sub_windows as usize + 1
            && counts.iter().all(|count| *count <= MAX_COUNT)
            && *first > 0
            && *last > 0;
        (is_valid && *newest <= MAX_TIMESTAMP / self.width).then(|| SlidingCounterState {
            newest: *newest,
            counts: counts.into(),
        })
    }
}

impl fmt::Display for SlidingCounterState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.newest)?;
        self.counts.iter().try_for_each(|count| write!(f, " {count}"))
    }
}

impl SlidingCounterState {
    /// The count `back` sub-windows before the one that is `age` after the newest.
    fn count(&self, age: u64, back: u64) -> u64 {
        let index = back.checked_sub(age);
        let count = index.and_then(|index| self.counts.get(index as usize));
        count.copied().unwrap_or(0)
    }

    /// Drops the zeros at both ends. If nothing is left, the state becomes fresh.
    fn trim(&mut self) {
        while self.counts.last() == Some(&0) {
            self.counts.pop();
        }
        let zeros = self.counts.iter().take_while(|&&count| count == 0).count();
        self.counts.drain(..zeros);
        self.newest -= zeros as u64;
        if self.counts.is_empty() {
            *self = Self::default();
        }
    }
}

/// A time as the index of its sub-window, the number of sub-windows since the state's newest, and the time elapsed in it.
#[derive(Clone, Copy)]
struct WindowPosition {
    index: u64,
    age: u64,
    elapsed: Micros,
}

impl SlidingCounter {
    /// A counter with one sub-window: the classic estimate from the current and the previous window.
    pub const fn new(quota: Quota) -> Self {
        Self {
            quota,
            sub_windows: 1,
            width: quota.window_micros(),
        }
    }

    /// Divides the window into this many sub-windows.
    ///
    /// In any period that is one sub-window shorter than the window, at most `limit` is admitted, for any traffic. So a window
    /// of 61 seconds with 61 sub-windows guarantees the limit in every minute.
    ///
    /// # Panics
    /// If [`try_sub_windows`](Self::try_sub_windows) returns an error.
    #[must_use]
    #[track_caller]
    pub fn sub_windows(self, sub_windows: u32) -> Self {
        config_error::expect(self.try_sub_windows(sub_windows))
    }

    /// Divides the window into this many sub-windows: 1 to 64, each a whole number of microseconds.
    pub fn try_sub_windows(self, sub_windows: u32) -> Result<Self, ConfigError> {
        let window = self.quota.window_micros();
        if at_least_one("sub_windows", sub_windows).is_err() || sub_windows > MAX_SUB_WINDOWS {
            return Err(ConfigError::new("sub_windows", sub_windows, "be from 1 to 64"));
        }
        if !window.is_multiple_of(u64::from(sub_windows)) {
            let must = format!("divide the window of {window} microseconds without a rest");
            return Err(ConfigError::new("sub_windows", sub_windows, must));
        }
        Ok(Self {
            sub_windows,
            width: window / u64::from(sub_windows),
            ..self
        })
    }

    fn position_at(&self, state: &SlidingCounterState, now: Micros) -> WindowPosition {
        let now = now.max(state.newest * self.width);
        let index = now / self.width;
        WindowPosition {
            index,
            age: index - state.newest,
            elapsed: now % self.width,
        }
    }

    /// The sum of the sub-windows that are entirely inside the window.
    fn full(&self, state: &SlidingCounterState, age: u64) -> u64 {
        (0..u64::from(self.sub_windows))
            .map(|back| state.count(age, back))
            .sum()
    }

    /// The count of the oldest sub-window, weighted by the share that is still inside the window. The product can exceed 2^53,
    /// so it is computed in doubles in the same order as in Lua.
    fn weighted(&self, oldest: u64, elapsed: Micros) -> u64 {
        (oldest as f64 * (self.width - elapsed) as f64 / self.width as f64).floor() as u64
    }

    fn used(&self, state: &SlidingCounterState, position: WindowPosition) -> u64 {
        let oldest = state.count(position.age, u64::from(self.sub_windows));
        self.full(state, position.age) + self.weighted(oldest, position.elapsed)
    }

    /// How long until at most `allowance` is used, without other charges than `pending` now.
    fn retry_after(
        &self,
        state: &SlidingCounterState,
        position: WindowPosition,
        pending: Cost,
        allowance: u64,
    ) -> Micros {
        let (mut ahead, pending, sub_windows) = (0, u64::from(pending), u64::from(self.sub_windows));
        loop {
            let age = position.age + ahead;
            let full = self.full(state, age) + if ahead < sub_windows { pending } else { 0 };
            if let Some(max) = allowance.checked_sub(full) {
                let oldest = state.count(age, sub_windows) + if ahead == sub_windows { pending } else { 0 };
                let start = if ahead == 0 { position.elapsed } else { 0 };
                let elapsed = self.shrinks_to(max, oldest, start);
                if elapsed < self.width {
                    return ahead * self.width + elapsed - position.elapsed;
                }
            }
            ahead += 1;
        }
    }

    /// The earliest elapsed time from `start` at which the weighted count is at most `max`; the width if there is none.
    fn shrinks_to(&self, max: u64, oldest: u64, start: Micros) -> Micros {
        if oldest <= max {
            return start;
        }
        // Rounded down, with an error below a microsecond: it may be too early, which the loop corrects, but never too late.
        let width = self.width as f64;
        let guess = (width - (max + 1) as f64 * width / oldest as f64).floor() as Micros;
        let mut elapsed = guess.max(start);
        while elapsed < self.width && self.weighted(oldest, elapsed) > max {
            elapsed += 1;
        }
        elapsed
    }

    /// Adds `units` to the sub-window of this position.
    fn add(&self, state: &mut SlidingCounterState, position: WindowPosition, units: u64) {
        let tracked = self.sub_windows as usize + 1;
        let newer = position.age.min(tracked as u64) as usize;
        state.counts.truncate(tracked - newer);
        state.counts.insert_many(0, std::iter::repeat_n(0, newer));
        if state.counts.is_empty() {
            state.counts.push(0);
        }
        state.counts[0] += units;
        state.newest = position.index;
        state.trim();
    }
}

impl Sealed for SlidingCounter {}

impl Algorithm for SlidingCounter {
    type State = SlidingCounterState;

    fn peek(&self, state: &SlidingCounterState, now: Micros, cost: Cost) -> Verdict {
        let limit = self.quota.limit();
        let position = self.position_at(state, now);
        let used = self.used(state, position);
        let ends = u64::from(self.sub_windows) + 1;
        let until = |sub_windows: u64| sub_windows * self.width - position.elapsed;
        let available_after = |pending| self.retry_after(state, position, pending, u64::from(limit) - 1);
        let uncharged = |outcome| Verdict {
            outcome,
            remaining: Remaining::new(self.quota.remaining(used), outcome, || available_after(0)),
            reset_after: match state.counts.is_empty() || position.age >= ends {
                true => 0,
                false => until(ends - position.age),
            },
        };
        if cost > limit {
            return uncharged(RawOutcome::Impossible);
        }
        if cost == 0 {
            return uncharged(RawOutcome::Admitted { delay: 0 });
        }
        let allowance = u64::from(limit - cost);
        if used > allowance {
            let retry_after = self.retry_after(state, position, 0, allowance);
            return uncharged(RawOutcome::Limited { retry_after });
        }
        let outcome = RawOutcome::Admitted { delay: 0 };
        Verdict {
            outcome,
            remaining: Remaining::new(allowance - used, outcome, || available_after(cost)),
            reset_after: until(ends),
        }
    }

    fn commit(&self, state: &mut SlidingCounterState, now: Micros, cost: Cost) -> Mark {
        let position = self.position_at(state, now);
        self.add(state, position, u64::from(cost));
        let at = position.index * self.width + position.elapsed;
        Mark::new(at, position.index, 0)
    }

    fn refund(&self, state: &mut SlidingCounterState, now: Micros, mark: Mark, cost: Cost) {
        let position = self.position_at(state, now);
        let tracked = position.index <= mark.position + u64::from(self.sub_windows);
        let position = state.newest.checked_sub(mark.position);
        let count = position.and_then(|position| state.counts.get_mut(position as usize));
        if let (true, Some(count)) = (tracked, count) {
            *count = count.saturating_sub(u64::from(cost));
            state.trim();
        }
    }

    fn overcharge(&self, state: &mut SlidingCounterState, now: Micros, surplus: Cost) {
        let position = self.position_at(state, now);
        let surplus = self.quota.bounded_surplus(self.used(state, position), surplus);
        if surplus > 0 {
            self.add(state, position, surplus);
        }
    }

    fn expires_at(&self, state: &SlidingCounterState) -> Micros {
        match state.counts.is_empty() {
            true => 0,
            false => (state.newest + u64::from(self.sub_windows) + 1) * self.width,
        }
    }

    fn to_any(&self) -> AnyAlgorithm {
        AnyAlgorithm::SlidingCounter(*self)
    }
}
