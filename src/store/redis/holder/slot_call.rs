//! A call that acquires, releases or renews slots of one key.

use std::sync::Arc;

use tokio::time::Instant;

use super::{
    holder::{NodeHolder, time_to_live},
    key_slots::SlotAnswer,
};
use crate::{algorithm::Holder, charge::Charge, decision::TierDecision, verdict::RawOutcome};

/// A call about the slots of one key. In every case the holder learns the answer, or that there is none.
pub(crate) struct SlotCall {
    holder: Arc<NodeHolder>,
    charge: Charge,
    change: Change,
    /// What the call says about its sender, from when it is first sent. It stays the same if Redis has rejected the call and it is sent
    /// again.
    sender: Option<Holder>,
    sent: Instant,
    is_answered: bool,
    /// Whether this node holds the slots because of it.
    is_acquired: bool,
}

impl SlotAnswer {
    /// The answer in the decision about an acquire.
    pub(crate) fn to_acquire(tier: &TierDecision) -> Self {
        match (tier.mark, tier.verdict().outcome) {
            (Some(mark), _) => Self::Executed { made_at: mark.position },
            (None, RawOutcome::Limited { retry_after: 0 }) => Self::Superseded,
            (None, _) => Self::Denied,
        }
    }

    /// The answer to a release or a renewal, which are never denied.
    pub(crate) fn to_change(tier: &TierDecision) -> Self {
        let made_at = tier.mark.map(|mark| mark.position);
        made_at.map_or(Self::Superseded, |made_at| Self::Executed { made_at })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Change {
    Acquire,
    Release,
    Renew,
}

impl SlotCall {
    pub(crate) fn acquire(holder: &Arc<NodeHolder>, charge: &Charge) -> Self {
        Self::new(holder, charge, Change::Acquire)
    }

    pub(crate) fn release(holder: &Arc<NodeHolder>, charge: &Charge) -> Self {
        Self::new(holder, charge, Change::Release)
    }

    pub(super) fn renew(holder: &Arc<NodeHolder>, charge: Charge, sender: Holder) -> Self {
        Self {
            holder: Arc::clone(holder),
            charge,
            change: Change::Renew,
            sender: Some(sender),
            sent: Instant::now(),
            is_answered: false,
            is_acquired: false,
        }
    }

    fn new(holder: &Arc<NodeHolder>, charge: &Charge, change: Change) -> Self {
        Self {
            holder: Arc::clone(holder),
            charge: charge.clone(),
            change,
            sender: None,
            sent: Instant::now(),
            is_answered: false,
            is_acquired: false,
        }
    }

    pub(crate) fn charge(&self) -> &Charge {
        &self.charge
    }

    pub(crate) fn is_acquire(&self) -> bool {
        self.change == Change::Acquire
    }

    pub(crate) fn is_renewal(&self) -> bool {
        self.change == Change::Renew
    }

    /// From now on, it is not known whether Redis has executed it.
    pub(crate) fn mark_sent(&mut self) {
        let (holder, charge) = (&self.holder, &self.charge);
        self.sent = Instant::now();
        self.sender.get_or_insert_with(|| match self.change {
            Change::Acquire => holder.send_acquire(charge),
            Change::Release => holder.send_release(charge),
            Change::Renew => unreachable!("a renewal has its sender from the start"),
        });
    }

    /// What the call says about its sender.
    pub(crate) fn sender(&self) -> Holder {
        self.sender.expect("it is marked as sent before it is encoded")
    }

    /// The answer in the decision about the charge. Returns whether the request may rely on it: not if the call had no effect, nor if this
    /// process was stopped for so long that what it has acquired may have expired. A denial holds nothing, so it applies in any epoch.
    pub(crate) fn answer(&mut self, tier: &TierDecision) -> bool {
        let Some(sender) = self.sender.filter(|_| self.sent.elapsed() < time_to_live(&self.charge)) else {
            return false;
        };
        self.is_answered = true;
        let (holder, charge) = (&self.holder, &self.charge);
        match self.change {
            Change::Acquire => {
                let answer = SlotAnswer::to_acquire(tier);
                let is_current = holder.answer(charge, sender, answer, charge.cost);
                let is_executed = matches!(answer, SlotAnswer::Executed { .. });
                self.is_acquired = is_current && is_executed;
                answer == SlotAnswer::Denied || is_current && is_executed
            }
            Change::Release => holder.answer(charge, sender, SlotAnswer::to_change(tier), 0),
            Change::Renew => {
                holder.renewed(charge, sender, SlotAnswer::to_change(tier));
                true
            }
        }
    }

    /// The request does not learn that it has acquired the slots.
    pub(crate) fn undo(self) {
        if self.is_acquired {
            self.holder.release_unsent(&self.charge);
        }
    }
}

impl Drop for SlotCall {
    fn drop(&mut self) {
        match (self.sender, self.change) {
            _ if self.is_answered => {}
            (Some(sender), Change::Renew) => self.holder.renewal_lost(&self.charge, sender),
            (Some(sender), _) => self.holder.lost(&self.charge, sender),
            // Redis still counts what is released here.
            (None, Change::Release) => self.holder.release_unsent(&self.charge),
            (None, _) => {}
        }
    }
}
