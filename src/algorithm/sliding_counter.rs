//! Sliding window counter: a count per sub-window, the oldest weighed by how much of it is still inside.

use std::fmt;

use smallvec::SmallVec;

use super::{
    Algorithm, Mark, Rule,
    counting::{bounded_surplus, remaining},
    sealed::Sealed,
};
use crate::{
    invalid::{self, Invalid},
    quota::{Cost, Quota, at_least_one},
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// The most sub-windows a window is cut into.
const MOST: u32 = 64;

/// Close to `limit` in any `window`, in a few bytes per key, by assuming that each sub-window was evenly busy.
///
/// One sub-window is the classic estimate from this window and the last; more [`buckets`](Self::buckets) come closer
/// to the exact log. Choose it when in doubt: it has no boundary burst to speak of, and its cost does not grow with
/// the limit.
///
/// ```
/// use tollgate::{Algorithm, Quota, SlidingCounter};
///
/// let limit = SlidingCounter::new(Quota::per_minute(100));
/// let mut state = Default::default();
/// limit.acquire(&mut state, 0, 100);
/// assert_eq!(limit.peek(&state, 75_000_000, 0).remaining(), 25); // a quarter of the next minute is over
/// assert!(limit.try_buckets(7).is_err()); // no whole number of microseconds
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlidingCounter {
    pub(crate) quota: Quota,
    pub(crate) buckets: u32,
    /// How long a sub-window is.
    pub(crate) width: Micros,
}

/// A counter's state: the newest sub-window that counted something, and the counts from there back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlidingCounterState {
    newest: u64,
    /// Newest first. The first and the last are never 0, and there are at most as many as sub-windows and one.
    counts: SmallVec<[u64; 2]>,
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
        let position = back.checked_sub(age).map(|position| position as usize);
        position
            .and_then(|position| self.counts.get(position))
            .map_or(0, |&count| count)
    }

    /// Drops the zeros at both ends, and with them the state when nothing is left.
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

/// Where a moment falls in a state: how many sub-windows after its newest, and how far into that one.
#[derive(Clone, Copy)]
struct Moment {
    index: u64,
    age: u64,
    elapsed: Micros,
}

impl SlidingCounter {
    /// The classic estimate from this window and the last.
    pub const fn new(quota: Quota) -> Self {
        Self {
            quota,
            buckets: 1,
            width: quota.window_micros(),
        }
    }

    /// Cuts the window into this many sub-windows.
    ///
    /// In any stretch that is one sub-window shorter than the window, no more than `limit` is let through, whatever anybody
    /// does. So a promise about every minute is kept by 61 sub-windows of 61 seconds.
    ///
    /// # Panics
    /// Where [`try_buckets`](Self::try_buckets) returns an error.
    #[must_use]
    #[track_caller]
    pub fn buckets(self, buckets: u32) -> Self {
        invalid::expect(self.try_buckets(buckets))
    }

    /// Cuts the window into this many sub-windows: 1 to 64, and the window's microseconds must divide by it.
    pub fn try_buckets(self, buckets: u32) -> Result<Self, Invalid> {
        let window = self.quota.window_micros();
        if at_least_one("buckets", buckets).is_err() || buckets > MOST {
            return Err(Invalid::new("buckets", buckets, "be from 1 to 64"));
        }
        if !window.is_multiple_of(u64::from(buckets)) {
            let must = format!("divide the window of {window} microseconds without a rest");
            return Err(Invalid::new("buckets", buckets, must));
        }
        Ok(Self {
            buckets,
            width: window / u64::from(buckets),
            ..self
        })
    }

    fn moment(&self, state: &SlidingCounterState, now: Micros) -> Moment {
        let now = now.max(state.newest * self.width);
        let index = now / self.width;
        Moment {
            index,
            age: index - state.newest,
            elapsed: now % self.width,
        }
    }

    /// The sum of the sub-windows that are wholly inside.
    fn full(&self, state: &SlidingCounterState, age: u64) -> u64 {
        (0..u64::from(self.buckets)).map(|back| state.count(age, back)).sum()
    }

    /// What is still inside of the sub-window that is leaving. The product can pass 2^53: doubles, in this order, are
    /// what Lua has, so they are what we take.
    fn weighted(&self, leaving: u64, elapsed: Micros) -> u64 {
        (leaving as f64 * (self.width - elapsed) as f64 / self.width as f64).floor() as u64
    }

    fn used(&self, state: &SlidingCounterState, moment: Moment) -> u64 {
        let leaving = state.count(moment.age, u64::from(self.buckets));
        self.full(state, moment.age) + self.weighted(leaving, moment.elapsed)
    }

    /// How long until no more than `allowance` is used, if nobody comes in between.
    fn retry_after(&self, state: &SlidingCounterState, moment: Moment, allowance: u64) -> Micros {
        let mut ahead = 0;
        loop {
            let age = moment.age + ahead;
            if let Some(room) = allowance.checked_sub(self.full(state, age)) {
                let leaving = state.count(age, u64::from(self.buckets));
                let start = if ahead == 0 { moment.elapsed } else { 0 };
                let elapsed = self.shrinks_to(room, leaving, start);
                if elapsed < self.width {
                    return ahead * self.width + elapsed - moment.elapsed;
                }
            }
            ahead += 1;
        }
    }

    /// How far into a sub-window, from `start` on, the leaving one weighs no more than `room`; its width when never.
    fn shrinks_to(&self, room: u64, leaving: u64, start: Micros) -> Micros {
        if leaving <= room {
            return start;
        }
        // Rounded down, and wrong by less than a microsecond: it may be early and is corrected, but it is never late.
        let width = self.width as f64;
        let guess = (width - (room + 1) as f64 * width / leaving as f64).floor() as Micros;
        let mut elapsed = guess.max(start);
        while elapsed < self.width && self.weighted(leaving, elapsed) > room {
            elapsed += 1;
        }
        elapsed
    }

    /// Counts `units` in the sub-window of this moment.
    fn add(&self, state: &mut SlidingCounterState, moment: Moment, units: u64) {
        let tracked = self.buckets as usize + 1;
        let newer = moment.age.min(tracked as u64) as usize;
        state.counts.truncate(tracked - newer);
        state.counts.insert_many(0, std::iter::repeat_n(0, newer));
        if state.counts.is_empty() {
            state.counts.push(0);
        }
        state.counts[0] += units;
        state.newest = moment.index;
        state.trim();
    }
}

impl Sealed for SlidingCounter {}

impl Algorithm for SlidingCounter {
    type State = SlidingCounterState;

    fn peek(&self, state: &SlidingCounterState, now: Micros, cost: Cost) -> Verdict {
        let limit = self.quota.limit();
        let moment = self.moment(state, now);
        let used = self.used(state, moment);
        let ends = u64::from(self.buckets) + 1;
        let until = |sub_windows: u64| sub_windows * self.width - moment.elapsed;
        let as_it_stands = |outcome| Verdict {
            outcome,
            remaining: remaining(limit, used),
            reset_after: match state.counts.is_empty() || moment.age >= ends {
                true => 0,
                false => until(ends - moment.age),
            },
        };
        if cost > limit {
            return as_it_stands(Outcome::Impossible);
        }
        if cost == 0 {
            return as_it_stands(Outcome::Admitted { delay: 0 });
        }
        let allowance = u64::from(limit - cost);
        if used > allowance {
            let retry_after = self.retry_after(state, moment, allowance);
            return as_it_stands(Outcome::Limited { retry_after });
        }
        Verdict {
            outcome: Outcome::Admitted { delay: 0 },
            remaining: allowance - used,
            reset_after: until(ends),
        }
    }

    fn commit(&self, state: &mut SlidingCounterState, now: Micros, cost: Cost) -> Mark {
        let moment = self.moment(state, now);
        self.add(state, moment, u64::from(cost));
        let at = moment.index * self.width + moment.elapsed;
        Mark {
            at,
            place: moment.index,
            unit: 0,
        }
    }

    fn refund(&self, state: &mut SlidingCounterState, now: Micros, mark: Mark, cost: Cost) {
        let moment = self.moment(state, now);
        let tracked = moment.index <= mark.place + u64::from(self.buckets);
        let position = state.newest.checked_sub(mark.place);
        let count = position.and_then(|position| state.counts.get_mut(position as usize));
        if let (true, Some(count)) = (tracked, count) {
            *count = count.saturating_sub(u64::from(cost));
            state.trim();
        }
    }

    fn overcharge(&self, state: &mut SlidingCounterState, now: Micros, surplus: Cost) {
        let moment = self.moment(state, now);
        let surplus = bounded_surplus(self.quota.limit(), self.used(state, moment), surplus);
        if surplus > 0 {
            self.add(state, moment, surplus);
        }
    }

    fn expires_at(&self, state: &SlidingCounterState) -> Micros {
        match state.counts.is_empty() {
            true => 0,
            false => (state.newest + u64::from(self.buckets) + 1) * self.width,
        }
    }

    fn rule(&self) -> Rule {
        Rule::SlidingCounter(*self)
    }
}
