//! The charges of a request that has a response, for its tiers to settle.
#![cfg_attr(
    not(feature = "axum"),
    allow(dead_code, reason = "only `settle_body` settles later, and it requires axum")
)]

use std::{fmt, num::NonZeroU8};

use crate::{charge::TierIndex, receipt::Receipt};

/// Settles a receipt in the background.
pub(crate) type SettleLater = Box<dyn FnOnce(Receipt) + Send>;

/// The charges of a request that has a response, for its tiers to settle.
pub struct Settlement<'a> {
    receipt: Receipt,
    /// The number of tiers so far.
    tiers: u8,
    later: &'a dyn Fn() -> SettleLater,
}

impl<'a> Settlement<'a> {
    pub(crate) fn new(receipt: Receipt, later: &'a dyn Fn() -> SettleLater) -> Self {
        let tiers = 0;
        Self { receipt, tiers, later }
    }

    /// The next tier, in the order in which a policy visits its tiers; `None` if it was not charged.
    pub(super) fn next_tier(&mut self) -> Option<TierSettlement<'_, 'a>> {
        self.tiers += 1;
        let tier = TierIndex(NonZeroU8::new(self.tiers)?);
        let has_charged = self.receipt.has_charged(tier);
        has_charged.then_some(TierSettlement { settlement: self, tier })
    }

    /// The receipt to settle now, if the cost of a charge has changed.
    pub(crate) fn finish(self) -> Option<Receipt> {
        self.receipt.corrected()
    }
}

impl fmt::Debug for Settlement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settlement")
            .field("receipt", &self.receipt)
            .finish_non_exhaustive()
    }
}

/// The charge of one tier, for its options to settle.
#[derive(Debug)]
pub struct TierSettlement<'s, 'a> {
    settlement: &'s mut Settlement<'a>,
    tier: TierIndex,
}

impl TierSettlement<'_, '_> {
    /// Settles the charge to a cost.
    pub(super) fn settle(&mut self, cost: u64) {
        self.settlement.receipt.settle_tier(self.tier, cost);
    }

    /// Takes out the charge, to settle it when its cost is known, unless it was taken out before.
    pub(super) fn take(&mut self) -> Option<UnsettledCharge> {
        let receipt = self.settlement.receipt.take_tier(self.tier)?;
        let settle = (self.settlement.later)();
        Some(UnsettledCharge { receipt, settle })
    }
}

/// A charge that is settled when its cost is known. If this is dropped, the charge stays as it is.
pub(super) struct UnsettledCharge {
    receipt: Receipt,
    settle: SettleLater,
}

impl UnsettledCharge {
    /// Settles to this cost.
    pub(super) fn settle(self, cost: u64) {
        (self.settle)(self.receipt.settled(cost));
    }

    /// Settles to this cost if it exceeds what was charged.
    pub(super) fn raise_to(self, cost: u64) {
        if self.receipt.costs().any(|(_, charged)| cost > u64::from(charged)) {
            self.settle(cost);
        }
    }
}
