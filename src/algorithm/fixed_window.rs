//! Fixed window: one count, which starts over with every window.

use std::fmt;

use super::{
    Algorithm, Mark, Rule,
    counting::{bounded_surplus, remaining},
    sealed::Sealed,
};
use crate::{
    quota::{Cost, Quota},
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// Counts to `limit` in every `window`, then starts over.
///
/// Windows are aligned to the clock (every full minute, say) unless they are [`anchored`](Self::anchored) at the first
/// request. Choose it for quotas people think of by the calendar, and where twice the limit across a boundary does no
/// harm.
///
/// ```
/// use tollgate::{Algorithm, FixedWindow, Quota};
///
/// /// For how long, after one request at this second, the next one has to wait.
/// fn wait(limit: FixedWindow, second: u64) -> Option<u64> {
///     let mut state = Default::default();
///     limit.acquire(&mut state, second * 1_000_000, 1);
///     limit.peek(&state, second * 1_000_000, 1).retry_after().map(|wait| wait.as_secs())
/// }
/// let once = FixedWindow::new(Quota::per_minute(1));
/// assert_eq!(wait(once, 70), Some(50)); // until the full minute
/// assert_eq!(wait(once.anchored(), 70), Some(60)); // a minute of its own
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedWindow {
    pub(crate) quota: Quota,
    pub(crate) anchored: bool,
}

/// A fixed window's state: when it began and what it has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedWindowState {
    start: Micros,
    count: u64,
}

impl fmt::Display for FixedWindowState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.start, self.count)
    }
}

impl FixedWindow {
    /// Windows aligned to the clock.
    pub const fn new(quota: Quota) -> Self {
        Self { quota, anchored: false }
    }

    /// A window opens with the first request it admits.
    #[must_use]
    pub const fn anchored(self) -> Self {
        Self { anchored: true, ..self }
    }

    /// The window in force, as `(start, count)`, and the time by its own reckoning.
    fn in_force(&self, state: &FixedWindowState, now: Micros) -> (Micros, u64, Micros) {
        let window = self.quota.window_micros();
        if state.count > 0 && now < state.start + window {
            return (state.start, state.count, now.max(state.start));
        }
        let start = if self.anchored { now } else { now / window * window };
        (start, 0, now)
    }
}

impl Sealed for FixedWindow {}

impl Algorithm for FixedWindow {
    type State = FixedWindowState;

    fn peek(&self, state: &FixedWindowState, now: Micros, cost: Cost) -> Verdict {
        let limit = self.quota.limit();
        let (start, count, now) = self.in_force(state, now);
        let left = start + self.quota.window_micros() - now;
        let (outcome, count) = if cost > limit {
            (Outcome::Impossible, count)
        } else if cost > 0 && count + u64::from(cost) > u64::from(limit) {
            (Outcome::Limited { retry_after: left }, count)
        } else {
            (Outcome::Admitted { delay: 0 }, count + u64::from(cost))
        };
        Verdict {
            outcome,
            remaining: remaining(limit, count),
            reset_after: if count == 0 { 0 } else { left },
        }
    }

    fn commit(&self, state: &mut FixedWindowState, now: Micros, cost: Cost) -> Mark {
        let (start, count, now) = self.in_force(state, now);
        *state = FixedWindowState {
            start,
            count: count + u64::from(cost),
        };
        Mark {
            at: now,
            place: start,
            unit: 0,
        }
    }

    fn refund(&self, state: &mut FixedWindowState, now: Micros, mark: Mark, cost: Cost) {
        let (start, count, _) = self.in_force(state, now);
        if count > 0 && start == mark.place {
            state.count = count.saturating_sub(u64::from(cost));
            if state.count == 0 {
                *state = FixedWindowState::default();
            }
        }
    }

    fn overcharge(&self, state: &mut FixedWindowState, now: Micros, surplus: Cost) {
        let (start, count, _) = self.in_force(state, now);
        let surplus = bounded_surplus(self.quota.limit(), count, surplus);
        if surplus > 0 {
            *state = FixedWindowState {
                start,
                count: count + surplus,
            };
        }
    }

    fn expires_at(&self, state: &FixedWindowState) -> Micros {
        match state.count {
            0 => 0,
            _ => state.start + self.quota.window_micros(),
        }
    }

    fn rule(&self) -> Rule {
        Rule::FixedWindow(*self)
    }
}
