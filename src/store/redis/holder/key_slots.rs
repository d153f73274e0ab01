//! The slots of one key that this node holds. Knows no clock and no Redis.

use crate::{algorithm::Holder, quota::Cost, time::Micros};

/// What this node holds of one key.
#[derive(Clone, Debug)]
pub(super) struct KeySlots {
    id: u64,
    epoch: u64,
    /// What was held when the epoch began.
    base: u64,
    /// When the entry of this node in the state was made, once Redis has said so in this epoch.
    made_at: Option<Micros>,
    /// What is held.
    count: u64,
    /// The calls without an answer.
    calls: usize,
    /// Whether Redis has executed a call in this epoch, or there was none before.
    is_confirmed: bool,
}

/// What an answer means for the request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Answered {
    /// It applies.
    Current,
    /// Redis has lost what this node held: a new epoch has to begin.
    StateLost,
    /// A later epoch has begun: what the call did has been undone.
    Superseded,
}

/// What Redis has done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SlotAnswer {
    /// It has changed the entry of this node, which was made at this time.
    Executed { made_at: Micros },
    /// It has denied an acquire.
    Denied,
    /// The call had no effect.
    Superseded,
}

impl SlotAnswer {
    /// Lets a key know of it. `cost` is what an acquire asks for.
    pub(super) fn apply(self, slots: &mut KeySlots, sender: Holder, cost: Cost) -> Answered {
        match self {
            Self::Executed { made_at } => slots.executed(sender, made_at, cost),
            Self::Denied => slots.denied(sender),
            Self::Superseded => slots.superseded(sender),
        }
    }
}

impl KeySlots {
    /// Nothing is held. The epoch is not lower than any that this node has used for the key.
    pub(super) fn new(id: u64, epoch: u64) -> Self {
        Self {
            id,
            epoch,
            base: 0,
            made_at: None,
            count: 0,
            calls: 0,
            is_confirmed: true,
        }
    }

    /// What is held.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether Redis has to be told nothing: nothing is held, no call is in flight, and Redis knows the epoch.
    pub(super) fn is_idle(&self) -> bool {
        self.count == 0 && self.calls == 0 && self.is_confirmed
    }

    /// Whether Redis knows the count with which this epoch began.
    pub(super) fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// Sends an acquire or a renewal.
    pub(super) fn send(&mut self) -> Holder {
        self.calls += 1;
        self.sender()
    }

    /// Sends a release. From here on nothing is held of it, even if the call is lost.
    pub(super) fn send_release(&mut self, cost: Cost) -> Holder {
        self.release(cost);
        self.send()
    }

    /// Releases what Redis is not told of: the next epoch has to begin.
    pub(super) fn release(&mut self, cost: Cost) {
        self.count = self.count.saturating_sub(u64::from(cost));
    }

    /// Redis has executed a call on this node's entry, which was made at this time. `cost` is what was acquired.
    pub(super) fn executed(&mut self, sender: Holder, made_at: Micros, cost: Cost) -> Answered {
        self.calls -= 1;
        if sender.epoch != self.epoch {
            return Answered::Superseded;
        }
        self.count += u64::from(cost);
        self.is_confirmed = true;
        match self.made_at.replace(made_at) {
            Some(known) if known != made_at => Answered::StateLost,
            _ => Answered::Current,
        }
    }

    /// Redis has denied an acquire.
    pub(super) fn denied(&mut self, sender: Holder) -> Answered {
        self.calls -= 1;
        match sender.epoch == self.epoch {
            true => Answered::Current,
            false => Answered::Superseded,
        }
    }

    /// A call had no effect. Unless a later epoch has begun, Redis has lost what this node held.
    pub(super) fn superseded(&mut self, sender: Holder) -> Answered {
        self.calls -= 1;
        match sender.epoch == self.epoch {
            true => Answered::StateLost,
            false => Answered::Superseded,
        }
    }

    /// There is no answer to a renewal. Returns whether a new epoch has to begin: one that may make an entry must not do so later.
    pub(super) fn renewal_lost(&mut self, sender: Holder) -> bool {
        self.lost(sender) && sender.made_at.is_none()
    }

    /// There is no answer to an acquire or a release. Returns whether a new epoch has to begin.
    pub(super) fn lost(&mut self, sender: Holder) -> bool {
        self.calls -= 1;
        sender.epoch == self.epoch
    }

    /// Holds what an answer of an earlier epoch has acquired: the mistake that a simulation has to find.
    #[cfg(test)]
    pub(super) fn acquire(&mut self, cost: Cost) {
        self.count += u64::from(cost);
    }

    /// Begins an epoch with what is held, higher than any before.
    pub(super) fn begin_epoch(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.base = self.count;
        self.made_at = None;
        self.is_confirmed = false;
    }

    /// What a call says about its sender.
    pub(super) fn sender(&self) -> Holder {
        let Self {
            id,
            epoch,
            base,
            made_at,
            ..
        } = *self;
        Holder {
            id,
            epoch,
            base,
            made_at,
        }
    }
}
