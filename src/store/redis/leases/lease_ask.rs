//! A lease that Redis was asked for.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    key_leases::{KeyLeases, Spent},
    leases::{InFlight, Leases},
};
use crate::{charge::Charge, decision::Decision, metrics::UnitOutcome, quota::Cost};

impl Leases {
    /// Takes units for a request with one tier, if this node holds enough, and says what to ask Redis for.
    pub(crate) fn spend(self: &Arc<Self>, charge: &Charge) -> Option<(Spent, Option<LeaseAsk>)> {
        if !self.may_hold(charge) {
            return None;
        }
        let now = self.micros(Instant::now());
        let spend = |leases: &mut KeyLeases| Some((leases.take(charge.cost, now)?, leases.ask(now)));
        let (spent, units) = self.with_current(charge, spend)??;
        charge
            .limit
            .metrics()
            .count_leased_units(UnitOutcome::Spent, charge.cost);
        Some((spent, units.map(|units| self.ask_for(charge, units))))
    }

    /// The lease to ask Redis for, for the key of an admitted or pending request.
    pub(crate) fn ask(self: &Arc<Self>, charge: &Charge, now: Instant) -> Option<LeaseAsk> {
        let units = self.with(charge, |leases| leases.ask(self.micros(now)))??;
        Some(self.ask_for(charge, units))
    }

    fn ask_for(self: &Arc<Self>, charge: &Charge, units: Cost) -> LeaseAsk {
        let charge = Charge::new(charge.limit.clone(), charge.key.clone()).with_cost(units);
        LeaseAsk::new(self, charge)
    }
}

/// A lease that was asked for. In every case the key learns the answer, or that there is none.
pub(crate) struct LeaseAsk {
    leases: Arc<Leases>,
    /// The units as a cost; `None` after the answer.
    charge: Option<Charge>,
    is_sent: bool,
    _in_flight: InFlight,
}

impl LeaseAsk {
    pub(crate) fn new(leases: &Arc<Leases>, charge: Charge) -> Self {
        Self {
            _in_flight: leases.in_flight(),
            leases: Arc::clone(leases),
            charge: Some(charge),
            is_sent: false,
        }
    }

    pub(crate) fn charge(&self) -> &Charge {
        self.charge.as_ref().expect("an answered lease is not sent")
    }

    /// From now on, it is not known whether Redis has charged it.
    pub(crate) fn mark_sent(&mut self) {
        self.is_sent = true;
    }

    /// The answer to a call that was sent at `sent`: a decision about the charge alone.
    pub(crate) fn answer(mut self, decision: &Decision, sent: Instant, received: Instant) {
        let (Some(charge), [tier]) = (self.charge.take(), decision.tiers()) else {
            return;
        };
        match tier.mark {
            Some(mark) => {
                let answer = self.leases.answer(tier, decision.now(), received);
                self.leases.granted(&charge, mark, sent, answer);
            }
            None => self.leases.refused(&charge, received),
        }
    }
}

impl Drop for LeaseAsk {
    fn drop(&mut self) {
        match (self.charge.take(), self.is_sent) {
            (Some(charge), true) => self.leases.lost(&charge, Instant::now()),
            (Some(charge), false) => self.leases.refused(&charge, Instant::now()),
            (None, _) => {}
        }
    }
}
