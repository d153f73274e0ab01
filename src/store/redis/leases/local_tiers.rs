//! The tiers of an operation that this node decides about by its leases.

use std::sync::Arc;

use tokio::time::Instant;

use super::leases::{Held, Leases};
use crate::{
    charge::{Charge, Charges},
    decision::{Decision, TierDecision, UncheckedTiers},
    metrics::UnitOutcome,
    operation::Operation,
    receipt::Receipt,
    store::redis::error::StoreError,
    time::Micros,
};

/// Tiers that Redis is not asked about, with their positions among all tiers of the operation. Units that were taken are put back when it
/// is dropped, unless the request was admitted.
pub(crate) struct LocalTiers {
    leases: Arc<Leases>,
    tiers: Vec<(usize, TierDecision)>,
    /// The time of Redis, as far as this node knows.
    now: Micros,
    /// The charges that Redis is asked about.
    asked: Charges,
}

impl LocalTiers {
    /// Splits an operation into the tiers that this node decides about, and the operation for Redis. One of both may be `None`.
    pub(crate) fn split(leases: &Arc<Leases>, operation: Operation) -> (Option<Self>, Option<Operation>) {
        let now = Instant::now();
        match operation {
            Operation::Acquire(charges) => match leases.take(&charges, now) {
                Some(held) => Self::acquire(leases, charges, held),
                None => (None, Some(Operation::Acquire(charges))),
            },
            Operation::Refund(receipt) => Self::correct(leases, receipt.settled(0), now),
            Operation::Settle(receipt) => Self::correct(leases, receipt, now),
            operation @ (Operation::Reset(_) | Operation::Peek(_)) => (None, Some(operation)),
        }
    }

    fn acquire(leases: &Arc<Leases>, charges: Charges, held: Held) -> (Option<Self>, Option<Operation>) {
        let (mut local, mut others) = (Self::new(leases), Vec::new());
        for (position, (charge, spent)) in charges.into_each().zip(held).enumerate() {
            match spent {
                Some(spent) => local.push(position, spent.decision(charge), spent.now),
                None => others.push(charge),
            }
        }
        if others.is_empty() {
            return (Some(local), None);
        }
        local.asked = Charges::from_distinct(others);
        let others = Operation::Acquire(local.asked.clone());
        (Some(local), Some(others))
    }

    /// Returns units to their leases, and what has no lease any more to Redis.
    fn correct(leases: &Arc<Leases>, receipt: Receipt, now: Instant) -> (Option<Self>, Option<Operation>) {
        let (mut local, mut others) = (Self::new(leases), Vec::new());
        for (position, charged) in receipt.into_charged().enumerate() {
            let units = charged.charge.cost.saturating_sub(charged.to());
            if units == 0 || charged.charge.limit.lease_micros().is_none() {
                others.push(charged);
                continue;
            }
            match leases.put_back(&charged.charge, charged.mark, units, now) {
                Ok(spent) => local.push(position, TierDecision::new(charged.charge, spent.verdict), spent.now),
                Err(returned) => others.push(returned),
            }
        }
        let local = (!local.tiers.is_empty()).then_some(local);
        let others = (!others.is_empty()).then(|| Operation::Settle(Receipt::from_charged(others)));
        (local, others)
    }

    fn new(leases: &Arc<Leases>) -> Self {
        Self {
            leases: Arc::clone(leases),
            tiers: Vec::new(),
            now: 0,
            asked: Charges::default(),
        }
    }

    fn push(&mut self, position: usize, tier: TierDecision, now: Micros) {
        self.tiers.push((position, tier));
        self.now = self.now.max(now);
    }

    /// The decision if no tier is left for Redis.
    pub(crate) fn decision(self) -> Decision {
        let now = self.now;
        self.merge(Decision::exempt(now))
    }

    pub(crate) fn charges(&self) -> impl Iterator<Item = &Charge> {
        self.tiers.iter().map(|(_, tier)| &tier.charge)
    }

    /// Adds the tiers to the decision about the others. If that is a denial, what was taken is put back.
    pub(crate) fn merge(mut self, decision: Decision) -> Decision {
        if !decision.admits() {
            self.put_back();
        }
        let tiers = std::mem::take(&mut self.tiers);
        for (_, tier) in tiers.iter().filter(|(_, tier)| tier.mark.is_some()) {
            let metrics = tier.charge.limit.metrics();
            metrics.count_leased_units(UnitOutcome::Spent, tier.charge.cost);
        }
        decision.with_tiers_at(tiers)
    }

    /// The decision if Redis failed for the others: these tiers decide, unless one of the others is required.
    pub(crate) fn without_others(self, error: StoreError, deadline: Instant) -> Result<Decision, StoreError> {
        let decides = self.tiers.iter().any(|(_, tier)| tier.mark.is_some());
        if !decides || self.asked.iter().any(Charge::is_required) {
            return Err(error);
        }
        let unchecked = UncheckedTiers {
            charges: self.asked.clone(),
            error: Arc::new(error),
            deadline,
        };
        Ok(self.decision().with_unchecked_tiers(unchecked))
    }

    /// Keeps what was taken, because the other tiers may have been charged.
    pub(crate) fn keep(mut self) {
        self.tiers.clear();
    }

    /// Puts back what was taken, and updates the verdicts.
    fn put_back(&mut self) {
        let now = Instant::now();
        for (_, tier) in &mut self.tiers {
            let Some(mark) = tier.mark.take() else { continue };
            match self.leases.put_back(&tier.charge, mark, tier.charge.cost, now) {
                Ok(spent) => tier.verdict = spent.verdict,
                Err(returned) => self.leases.push_returned(returned),
            }
        }
    }
}

impl Drop for LocalTiers {
    fn drop(&mut self) {
        self.put_back();
    }
}
