//! Fixed window: one count, which is reset with every window.

use std::fmt;

use super::{Algorithm, AnyAlgorithm, Mark, algorithm::Sealed};
use crate::{
    quota::{Cost, MAX_COUNT, Quota},
    time::{MAX_TIMESTAMP, Micros},
    verdict::{RawOutcome, Remaining, Verdict},
};

/// Admits `limit` requests per `window`, and resets the count with every window.
///
/// Windows are aligned to the clock (for example to full minutes), unless they are [`anchored`](Self::anchored) at the first
/// request. Choose it for quotas in calendar units, and where twice the limit across a window boundary is harmless.
///
/// ```
/// use tollgate::{Algorithm, FixedWindow, Quota};
///
/// /// The seconds until a second request is admitted, after one at this second.
/// fn wait(limit: FixedWindow, second: u64) -> Option<u64> {
///     let mut state = Default::default();
///     limit.acquire(&mut state, second * 1_000_000, 1);
///     limit.peek(&state, second * 1_000_000, 1).retry_after().map(|wait| wait.as_secs())
/// }
/// let once = FixedWindow::new(Quota::per_minute(1));
/// assert_eq!(wait(once, 70), Some(50)); // until the next full minute
/// assert_eq!(wait(once.anchored(), 70), Some(60)); // a minute after the first request
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedWindow {
    pub(crate) quota: Quota,
    pub(crate) anchored: bool,
}

/// The state of a fixed window: its start and its count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FixedWindowState {
    start: Micros,
    count: u64,
}

impl FixedWindowState {
    /// The state of these numbers, as it is displayed; `None` if no window has such a state.
    pub(super) fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let &[start, count] = numbers else {
            return None;
        };
        let is_valid = start <= MAX_TIMESTAMP && (1..=MAX_COUNT).contains(&count);
        is_valid.then_some(Self { start, count })
    }
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

    /// Starts each window with the first request that it admits.
    #[must_use]
    pub const fn anchored(self) -> Self {
        Self { anchored: true, ..self }
    }

    /// The start and count of the window at `now`, and the effective time: not before the start.
    fn current_window(&self, state: &FixedWindowState, now: Micros) -> (Micros, u64, Micros) {
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
        let (start, count, now) = self.current_window(state, now);
        let left = start + self.quota.window_micros() - now;
        let (outcome, count) = if cost > limit {
            (RawOutcome::Impossible, count)
        } else if cost > 0 && count + u64::from(cost) > u64::from(limit) {
            (RawOutcome::Limited { retry_after: left }, count)
        } else {
            (RawOutcome::Admitted { delay: 0 }, count + u64::from(cost))
        };
        Verdict {
            outcome,
            remaining: Remaining::new(self.quota.remaining(count), outcome, || left),
            reset_after: if count == 0 { 0 } else { left },
        }
    }

    fn commit(&self, state: &mut FixedWindowState, now: Micros, cost: Cost) -> Mark {
        let (start, count, now) = self.current_window(state, now);
        *state = FixedWindowState {
            start,
            count: count + u64::from(cost),
        };
        Mark::new(now, start, 0)
    }

    fn refund(&self, state: &mut FixedWindowState, now: Micros, mark: Mark, cost: Cost) {
        let (start, count, _) = self.current_window(state, now);
        if count > 0 && start == mark.position {
            state.count = count.saturating_sub(u64::from(cost));
            if state.count == 0 {
                *state = FixedWindowState::default();
            }
        }
    }

    fn overcharge(&self, state: &mut FixedWindowState, now: Micros, surplus: Cost) {
        let (start, count, _) = self.current_window(state, now);
        let surplus = self.quota.bounded_surplus(count, surplus);
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

    fn to_any(&self) -> AnyAlgorithm {
        AnyAlgorithm::FixedWindow(*self)
    }
}
