//! The leases of one key: what this node holds, and when it asks for more. It knows neither Redis nor a clock: the times that it is
//! passed are this node's.

use smallvec::SmallVec;

use crate::{
    algorithm::Mark, charge::Charge, decision::TierDecision, limit::Limit, quota::Cost, time::Micros, verdict::Verdict,
};

/// The share of the lease time that may be lost to clocks that run at different speeds: one percent. Clocks that are synchronised differ
/// by a twentieth of that at most.
const DRIFT_ALLOWANCE: Micros = 100;

/// The share of what remains that a node may lease at once: an eighth. Close to the limit, Redis decides about every request.
const MAX_SHARE: u64 = 8;

/// A lease of fewer units saves no call.
const MIN_UNITS: u64 = 2;

/// After a refused lease, the node asks again after an eighth of the lease time.
const PAUSE_SHARE: Micros = 8;

/// A renewal is asked for when a quarter of the units or of the time is left.
const RENEWAL_SHARE: u64 = 4;

/// Units that were charged at once, and that may be spent until `end`.
#[derive(Clone, Copy, Debug)]
struct Lease {
    mark: Mark,
    /// Not spent yet.
    units: Cost,
    received: Micros,
    end: Micros,
    /// Whether it ends with its window, before which another lease would end too.
    ends_with_window: bool,
    /// The units that the node had spent in all when it was granted.
    spent_before: u64,
    /// Whether what it will not need has been returned, in the middle of its time.
    trimmed: bool,
}

impl Lease {
    fn is_live(&self, now: Micros) -> bool {
        now < self.end
    }

    /// The middle of the time in which it can be spent.
    fn middle(&self) -> Micros {
        self.received + (self.end - self.received) / 2
    }

    fn is_to_be_renewed(&self, now: Micros) -> bool {
        let time = self.end - self.received;
        !self.ends_with_window && now >= self.end - time / RENEWAL_SHARE
    }
}

/// Whether a node asks for a lease.
#[derive(Clone, Copy, Debug)]
enum LeaseRequest {
    None,
    InFlight,
    /// It was refused, or the answer was lost: then what it may have charged is out of reach until then.
    PausedUntil(Micros),
}

/// Units to return to Redis, with the mark to do so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Returned {
    pub(crate) units: Cost,
    pub(crate) mark: Mark,
}

/// Units that were taken from a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) mark: Mark,
    pub(crate) verdict: Verdict,
    /// The time of Redis, by its last answer and what has elapsed since.
    pub(crate) now: Micros,
}

impl Spent {
    /// The decision about the charge that the units are for.
    pub(crate) fn decision(self, charge: Charge) -> TierDecision {
        TierDecision::new(charge, self.verdict).with_mark(self.mark)
    }
}

/// What Redis said last about a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    /// By the clock of Redis.
    pub(crate) now: Micros,
    /// By the clock of this node.
    pub(crate) received: Micros,
}

#[derive(Debug)]
pub(crate) struct KeyLeases {
    limit: Limit,
    time: Micros,
    /// What is spent first, and what was asked for meanwhile. One that is spent stays until its end, since units may be put back.
    leases: SmallVec<[Lease; 2]>,
    asking: LeaseRequest,
    /// The units that were spent in the current period and in the one before, each as long as a lease.
    spent: [u64; 2],
    period: Micros,
    spent_in_all: u64,
    answer: Answer,
}

impl KeyLeases {
    /// For a limit with a lease time, after the first answer of Redis.
    pub(crate) fn new(limit: &Limit, time: Micros, answer: Answer) -> Self {
        Self {
            limit: limit.clone(),
            time,
            leases: SmallVec::new(),
            asking: LeaseRequest::None,
            spent: [0; 2],
            period: answer.received,
            spent_in_all: 0,
            answer,
        }
    }

    pub(crate) fn limit(&self) -> &Limit {
        &self.limit
    }

    /// Takes units for a request, if one of the leases has enough. What costs nothing is up to Redis.
    pub(crate) fn take(&mut self, cost: Cost, now: Micros) -> Option<Spent> {
        if cost == 0 {
            return None;
        }
        let (mut mark, mut held) = (None, 0);
        for lease in self.leases.iter_mut().filter(|lease| lease.is_live(now)) {
            if mark.is_none() && lease.units >= cost {
                lease.units -= cost;
                mark = Some(lease.mark);
            }
            held += u64::from(lease.units);
        }
        let mark = mark?;
        self.count(cost, now);
        Some(self.spent(mark, held, now))
    }

    /// Units of a mark, with the last verdict of Redis and the units that are left in hand.
    fn spent(&self, mark: Mark, held: u64, now: Micros) -> Spent {
        let Answer { verdict, received, .. } = self.answer;
        let elapsed = now.saturating_sub(received);
        let capacity = self.limit.algorithm().capacity().into();
        Spent {
            mark,
            verdict: verdict.advanced_by(elapsed).with_units_in_hand(held, capacity),
            now: self.answer.now + elapsed,
        }
    }

    /// The units that can be spent.
    fn held(&self, now: Micros) -> u64 {
        let live = self.leases.iter().filter(|lease| lease.is_live(now));
        live.map(|lease| u64::from(lease.units)).sum()
    }

    /// Puts units back that a request has taken, or that were charged in the same call as a lease, if the lease is still live; otherwise
    /// they are returned to Redis.
    pub(crate) fn put_back(&mut self, spent: Mark, units: Cost, now: Micros) -> Result<Spent, Returned> {
        self.spent[0] = self.spent[0].saturating_sub(u64::from(units));
        let position = |mark: Mark| self.limit.algorithm().window_end(mark);
        let same = |lease: &&mut Lease| {
            let mark = lease.mark;
            lease.is_live(now)
                && mark.at == spent.at
                && mark.unit() == spent.unit()
                && position(mark) == position(spent)
        };
        // Of several that were charged at the same time, the one that ends first.
        match self.leases.iter_mut().filter(same).min_by_key(|lease| lease.end) {
            Some(lease) => {
                lease.units += units;
                Ok(self.spent(spent, self.held(now), now))
            }
            None => {
                let mark = self.limit.algorithm().return_mark(spent, units);
                Err(Returned { units, mark })
            }
        }
    }

    /// Counts units of a request, which is not denied so far.
    fn count(&mut self, units: Cost, now: Micros) {
        self.start_period(now);
        self.spent[0] += u64::from(units);
        self.spent_in_all += u64::from(units);
    }

    /// Starts another period, if the current one is over.
    fn start_period(&mut self, now: Micros) {
        let elapsed = now.saturating_sub(self.period);
        if elapsed >= self.time {
            let is_next = elapsed < 2 * self.time;
            self.spent = [0, if is_next { self.spent[0] } else { 0 }];
            self.period = now;
        }
    }

    /// Whether a lease is asked for, or the node has to wait until it asks again.
    fn is_asking(&self, now: Micros) -> bool {
        match self.asking {
            LeaseRequest::None => false,
            LeaseRequest::InFlight => true,
            LeaseRequest::PausedUntil(until) => now < until,
        }
    }

    /// The units to ask Redis for, if this is the time to do so.
    pub(crate) fn ask(&mut self, now: Micros) -> Option<Cost> {
        if self.is_asking(now) {
            return None;
        }
        self.start_period(now);
        let mut live = self.leases.iter().filter(|lease| lease.is_live(now) && lease.units > 0);
        let (held, demand) = (self.held(now), self.spent[0].max(self.spent[1]));
        // A renewal starts before the units or the time run out.
        if held > demand / RENEWAL_SHARE && live.any(|lease| !lease.is_to_be_renewed(now)) {
            return None;
        }
        let share = self.answer.verdict.remaining() / MAX_SHARE;
        // A little less than what is missing, so that a lease is spent before it ends even if the demand falls.
        let missing = demand.saturating_sub(held);
        let units = (missing - missing / 8).min(share).min(u64::from(Cost::MAX));
        if units < MIN_UNITS {
            return None;
        }
        self.asking = LeaseRequest::InFlight;
        Some(units as Cost)
    }

    /// A lease was charged by a call that was sent at `sent`. If it has ended already, it is returned whole.
    pub(crate) fn granted(&mut self, units: Cost, mark: Mark, sent: Micros, answer: Answer) -> Option<Returned> {
        self.asking = LeaseRequest::None;
        self.answer = answer;
        let window = self.limit.algorithm().window_end(mark);
        let window = window.map(|end| end.saturating_sub(mark.at));
        let ends_with_window = window.is_some_and(|window| window < self.time);
        let time = window.map_or(self.time, |window| self.time.min(window));
        let end = sent + (time - time.div_ceil(DRIFT_ALLOWANCE));
        if answer.received >= end {
            let mark = self.limit.algorithm().return_mark(mark, units);
            return Some(Returned { units, mark });
        }
        self.leases.push(Lease {
            mark,
            units,
            received: answer.received,
            end,
            ends_with_window,
            spent_before: self.spent_in_all,
            trimmed: false,
        });
        None
    }

    /// Redis did not charge the lease. What remains will not be more for a while.
    pub(crate) fn refused(&mut self, now: Micros) {
        self.asking = LeaseRequest::PausedUntil(now + self.time / PAUSE_SHARE);
    }

    /// It is not known whether Redis has charged the lease.
    pub(crate) fn lost(&mut self, now: Micros) {
        self.asking = LeaseRequest::PausedUntil(now + self.time);
    }

    /// Redis decided about a request, and charged so many units.
    pub(crate) fn decided(&mut self, charged: Cost, answer: Answer) {
        self.answer = answer;
        self.count(charged, answer.received);
    }

    /// Returns what leases that have ended still had, and what others will not need: in the second half of its time a lease keeps as many
    /// units as the node has spent in the first.
    pub(crate) fn returned(&mut self, now: Micros) -> SmallVec<[Returned; 2]> {
        let (algorithm, spent_in_all) = (*self.limit.algorithm(), self.spent_in_all);
        let mut returned = SmallVec::new();
        self.leases.retain(|lease| {
            let is_live = lease.is_live(now);
            let kept = match is_live {
                true if lease.trimmed || now < lease.middle() => lease.units,
                true => u64::from(lease.units).min(spent_in_all - lease.spent_before) as Cost,
                false => 0,
            };
            lease.trimmed |= now >= lease.middle();
            let units = lease.units - kept;
            lease.units = kept;
            if units > 0 {
                let mark = algorithm.return_mark(lease.mark, units);
                returned.push(Returned { units, mark });
            }
            is_live
        });
        returned
    }

    /// When [`returned`](Self::returned) has to be called next.
    pub(crate) fn next_return(&self) -> Option<Micros> {
        let next = |lease: &Lease| if lease.trimmed { lease.end } else { lease.middle() };
        self.leases.iter().map(next).min()
    }

    /// Everything that is left, to return it at once: the limit has changed, or the process ends.
    pub(crate) fn into_returned(self) -> impl Iterator<Item = Returned> {
        let algorithm = *self.limit.algorithm();
        let left = self.leases.into_iter().filter(|lease| lease.units > 0);
        left.map(move |Lease { mark, units, .. }| Returned {
            units,
            mark: algorithm.return_mark(mark, units),
        })
    }

    /// Whether nothing would be lost with it.
    pub(crate) fn is_idle(&self, now: Micros) -> bool {
        self.leases.is_empty() && !self.is_asking(now) && now.saturating_sub(self.period) >= 2 * self.time
    }
}

#[cfg(test)]
mod tests;
