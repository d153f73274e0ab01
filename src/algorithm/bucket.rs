//! The arithmetic that both buckets share: a backlog that drains at a steady rate.
//!
//! Whole tokens would lose fractions, so the backlog is counted in units that are small enough for every microsecond to drain a
//! whole number of them: with g = gcd(limit, window), a token is `window / g` units, and a microsecond drains `limit / g`.
//! Every rate is exact, whether it is below one per second or above one per microsecond.

use std::fmt;

use super::{Mark, divisor::Divisor};
use crate::{
    config_error::ConfigError,
    quota::{Cost, Quota, at_least_one},
    time::{MAX_TIMESTAMP, Micros},
    verdict::{RawOutcome, Remaining, Verdict},
};

/// The bound of a full bucket, in units. Settling may charge up to twice as much, which is still exact in Lua's doubles.
const MAX_BACKLOG: u64 = 1 << 52;

/// The state of a bucket: its backlog, the units per token, and the time of the backlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BucketState {
    backlog: u64,
    unit: u64,
    last: Micros,
}

impl BucketState {
    /// The state of these numbers, as it is displayed; `None` if no bucket has such a state.
    pub(super) fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let &[backlog, unit, last] = numbers else {
            return None;
        };
        let is_valid = (1..=2 * MAX_BACKLOG).contains(&backlog) && (1..=MAX_BACKLOG).contains(&unit);
        (is_valid && last <= MAX_TIMESTAMP).then_some(Self { backlog, unit, last })
    }
}

impl fmt::Display for BucketState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.backlog, self.unit, self.last)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bucket {
    pub(crate) quota: Quota,
    pub(crate) capacity: u32,
    /// The units of backlog per token.
    pub(crate) unit: Divisor,
    /// The units that drain in a microsecond.
    pub(crate) drain: Divisor,
}

impl Bucket {
    pub(crate) fn new(quota: Quota, capacity: u32) -> Result<Self, ConfigError> {
        let (limit, window) = (u64::from(quota.limit()), quota.window_micros());
        let divisor = gcd(limit, window);
        let (unit, drain) = (window / divisor, limit / divisor);
        let largest = (MAX_BACKLOG - 1) / unit;
        if u64::from(at_least_one("capacity", capacity)?) > largest {
            let must = format!("be at most {largest} for a limit of {quota} (it is the limit unless it is set)");
            return Err(ConfigError::new("capacity", capacity, must));
        }
        Ok(Self {
            quota,
            capacity,
            unit: Divisor::new(unit),
            drain: Divisor::new(drain),
        })
    }

    #[inline]
    const fn full(&self) -> u64 {
        self.capacity as u64 * self.unit.get()
    }

    /// The time in which a full bucket drains.
    pub(crate) const fn drain_time(&self) -> Micros {
        self.drain.divide_up(self.full())
    }

    /// The backlog at `now`, and the effective time: not before the state's.
    #[inline]
    pub(crate) fn level(&self, state: &BucketState, now: Micros) -> (u64, Micros) {
        let now = now.max(state.last);
        let drained = (now - state.last).saturating_mul(self.drain.get());
        (self.in_units(state).saturating_sub(drained), now)
    }

    /// The backlog in this limit's units, which differ from the state's if the rate was changed after the charge.
    #[inline]
    fn in_units(&self, state: &BucketState) -> u64 {
        if state.unit == self.unit.get() || state.backlog == 0 {
            return state.backlog;
        }
        let tokens = state.backlog / state.unit;
        let rest = (state.backlog % state.unit) as f64 * self.unit.get() as f64 / state.unit as f64;
        tokens
            .saturating_mul(self.unit.get())
            .saturating_add(rest.ceil() as u64)
            .min(MAX_BACKLOG)
    }

    #[inline]
    pub(crate) fn peek(&self, state: &BucketState, now: Micros, cost: Cost) -> Verdict {
        self.verdict_at(self.level(state, now).0, cost)
    }

    /// The verdict about a request at this backlog.
    #[inline]
    fn verdict_at(&self, level: u64, cost: Cost) -> Verdict {
        if cost > self.capacity {
            return self.verdict(RawOutcome::Impossible, level);
        }
        let need = u64::from(cost) * self.unit.get();
        let max_level = self.full() - need;
        if cost > 0 && level > max_level {
            let retry_after = self.drain.divide_up(level - max_level);
            return self.verdict(RawOutcome::Limited { retry_after }, level);
        }
        self.verdict(RawOutcome::Admitted { delay: 0 }, level + need)
    }

    #[inline]
    pub(crate) fn verdict(&self, outcome: RawOutcome, level: u64) -> Verdict {
        let (full, unit) = (self.full(), self.unit);
        let wait = || self.drain.divide_up(level - (full - unit.get()));
        Verdict {
            outcome,
            remaining: Remaining::new(unit.divide(full.saturating_sub(level)), outcome, wait),
            reset_after: self.drain.divide_up(level),
        }
    }

    #[inline]
    pub(crate) fn commit(&self, state: &mut BucketState, now: Micros, cost: Cost) -> Mark {
        let (level, now) = self.level(state, now);
        self.charge(state, level, now, cost)
    }

    /// Peeks and, if the request is admitted, commits, with one computation of the backlog.
    #[inline]
    pub(crate) fn acquire(&self, state: &mut BucketState, now: Micros, cost: Cost) -> (Verdict, Option<Mark>) {
        let (level, now) = self.level(state, now);
        let verdict = self.verdict_at(level, cost);
        let is_charged = verdict.outcome.admits() && cost > 0;
        (verdict, is_charged.then(|| self.charge(state, level, now, cost)))
    }

    #[inline]
    fn charge(&self, state: &mut BucketState, level: u64, now: Micros, cost: Cost) -> Mark {
        let backlog = level + u64::from(cost) * self.unit.get();
        self.set_backlog(state, backlog, now);
        Mark::new(now, backlog, self.unit.get())
    }

    /// Refunds what has not drained of a charge.
    pub(crate) fn refund(&self, state: &mut BucketState, now: Micros, mark: Mark, cost: Cost) {
        if !self.counts_in(mark, state) {
            return;
        }
        let (level, now) = self.level(state, now);
        let drained = (now - mark.at.min(now)).saturating_mul(self.drain.get());
        let undrained = mark.position.saturating_sub(drained);
        let refunded = u64::from(cost).saturating_mul(self.unit.get()).min(undrained);
        if refunded > 0 {
            self.set_backlog(state, level.saturating_sub(refunded), now);
        }
    }

    /// Refunds a place in the queue. Only the last place can be refunded, because the delays of later requests are already set.
    pub(crate) fn leave_queue(&self, state: &mut BucketState, now: Micros, mark: Mark, cost: Cost) {
        let is_last = state.last == mark.at && state.backlog == mark.position;
        if self.counts_in(mark, state) && is_last {
            let refunded = u64::from(cost).saturating_mul(self.unit.get());
            let backlog = state.backlog.saturating_sub(refunded);
            self.set_backlog(state, backlog, state.last);
            if self.level(state, now).0 == 0 {
                *state = BucketState::default();
            }
        }
    }

    /// Whether the limit, the charge and the state have the same units. Otherwise a refund is not possible.
    fn counts_in(&self, mark: Mark, state: &BucketState) -> bool {
        mark.unit() == self.unit.get() && mark.unit() == state.unit
    }

    pub(crate) fn overcharge(&self, state: &mut BucketState, now: Micros, surplus: Cost) {
        let (level, now) = self.level(state, now);
        let max = 2 * self.full();
        if level < max {
            let units = u64::from(surplus.min(self.capacity.saturating_mul(2))) * self.unit.get();
            self.set_backlog(state, (level + units).min(max), now);
        }
    }

    #[inline]
    fn set_backlog(&self, state: &mut BucketState, backlog: u64, now: Micros) {
        *state = match backlog {
            0 => BucketState::default(),
            _ => BucketState {
                backlog,
                unit: self.unit.get(),
                last: now,
            },
        };
    }

    pub(crate) fn expires_at(&self, state: &BucketState) -> Micros {
        state.last + self.drain.divide_up(self.in_units(state))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
