//! The machine behind both buckets: a backlog that drains at a steady rate.
//!
//! Whole tokens would lose the fractions between them, so the backlog is counted in units fine enough that every
//! microsecond drains a whole number of them: with g = gcd(limit, window), a token is `window / g` units and a
//! microsecond drains `limit / g`. Every rate is exact, below one a second and above one a microsecond alike.

use std::fmt;

use super::Mark;
use crate::{
    invalid::Invalid,
    quota::{Cost, Quota, at_least_one},
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// What a full bucket may hold, in units: settling may owe twice that, which still is exact as a double.
const MOST: u64 = 1 << 52;

/// A bucket's state: what is owed, in units of which size, since when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BucketState {
    backlog: u64,
    unit: u64,
    last: Micros,
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
    pub(crate) unit: u64,
    pub(crate) drain: u64,
}

impl Bucket {
    pub(crate) fn new(quota: Quota, capacity: u32) -> Result<Self, Invalid> {
        let (limit, window) = (u64::from(quota.limit()), quota.window_micros());
        let divisor = gcd(limit, window);
        let (unit, drain) = (window / divisor, limit / divisor);
        let largest = (MOST - 1) / unit;
        if u64::from(at_least_one("capacity", capacity)?) > largest {
            let must = format!("be at most {largest} for a limit of {quota} (it is the limit unless it is set)");
            return Err(Invalid::new("capacity", capacity, must));
        }
        Ok(Self {
            quota,
            capacity,
            unit,
            drain,
        })
    }

    fn full(&self) -> u64 {
        u64::from(self.capacity) * self.unit
    }

    /// What is still owed, and the time by the bucket's own reckoning.
    pub(crate) fn level(&self, state: &BucketState, now: Micros) -> (u64, Micros) {
        let now = now.max(state.last);
        let drained = (now - state.last).saturating_mul(self.drain);
        (self.in_units(state).saturating_sub(drained), now)
    }

    /// The backlog in this limit's units, which are not the state's when the rate has been changed in between.
    fn in_units(&self, state: &BucketState) -> u64 {
        if state.unit == self.unit || state.backlog == 0 {
            return state.backlog;
        }
        let tokens = state.backlog / state.unit;
        let rest = (state.backlog % state.unit) as f64 * self.unit as f64 / state.unit as f64;
        tokens
            .saturating_mul(self.unit)
            .saturating_add(rest.ceil() as u64)
            .min(MOST)
    }

    pub(crate) fn peek(&self, state: &BucketState, now: Micros, cost: Cost) -> Verdict {
        let (level, _) = self.level(state, now);
        if cost > self.capacity {
            return self.verdict(Outcome::Impossible, level);
        }
        let need = u64::from(cost) * self.unit;
        let room = self.full() - need;
        if cost > 0 && level > room {
            let retry_after = (level - room).div_ceil(self.drain);
            return self.verdict(Outcome::Limited { retry_after }, level);
        }
        self.verdict(Outcome::Admitted { delay: 0 }, level + need)
    }

    pub(crate) fn verdict(&self, outcome: Outcome, level: u64) -> Verdict {
        Verdict {
            outcome,
            remaining: self.full().saturating_sub(level) / self.unit,
            reset_after: level.div_ceil(self.drain),
        }
    }

    pub(crate) fn commit(&self, state: &mut BucketState, now: Micros, cost: Cost) -> Mark {
        let (level, now) = self.level(state, now);
        let backlog = level + u64::from(cost) * self.unit;
        self.owe(state, backlog, now);
        Mark {
            at: now,
            place: backlog,
            unit: self.unit,
        }
    }

    /// Gives back what is still owed of a charge: what has drained since is nobody's to give.
    pub(crate) fn refund(&self, state: &mut BucketState, now: Micros, mark: Mark, cost: Cost) {
        if !self.counts_in(mark, state) {
            return;
        }
        let (level, now) = self.level(state, now);
        let drained = (now - mark.at.min(now)).saturating_mul(self.drain);
        let owed = mark.place.saturating_sub(drained);
        let given = u64::from(cost).saturating_mul(self.unit).min(owed);
        if given > 0 {
            self.owe(state, level.saturating_sub(given), now);
        }
    }

    /// Gives back a place in a queue, whose later places are promised already: only the last may go.
    pub(crate) fn leave_queue(&self, state: &mut BucketState, now: Micros, mark: Mark, cost: Cost) {
        let nobody_since = state.last == mark.at && state.backlog == mark.place;
        if self.counts_in(mark, state) && nobody_since {
            let given = u64::from(cost).saturating_mul(self.unit);
            let backlog = state.backlog.saturating_sub(given);
            self.owe(state, backlog, state.last);
            if self.level(state, now).0 == 0 {
                *state = BucketState::default();
            }
        }
    }

    /// A charge can only be given back in the units that it was taken in.
    fn counts_in(&self, mark: Mark, state: &BucketState) -> bool {
        mark.unit == self.unit && mark.unit == state.unit
    }

    pub(crate) fn overcharge(&self, state: &mut BucketState, now: Micros, surplus: Cost) {
        let (level, now) = self.level(state, now);
        let most = 2 * self.full();
        if level < most {
            let units = u64::from(surplus.min(self.capacity.saturating_mul(2))) * self.unit;
            self.owe(state, (level + units).min(most), now);
        }
    }

    fn owe(&self, state: &mut BucketState, backlog: u64, now: Micros) {
        *state = match backlog {
            0 => BucketState::default(),
            _ => BucketState {
                backlog,
                unit: self.unit,
                last: now,
            },
        };
    }

    pub(crate) fn expires_at(&self, state: &BucketState) -> Micros {
        state.last + self.in_units(state).div_ceil(self.drain)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
