//! The charges of a request that has a response, for its tiers to settle.
#![cfg_attr(
    not(feature = "axum"),
    allow(dead_code, reason = "only bodies settle later, and they require axum")
)]

use std::fmt;

use crate::receipt::Receipt;

/// Settles a receipt in the background.
pub(crate) type SettleLater = Box<dyn FnOnce(Receipt) + Send>;

/// The charges of a request that has a response, for its tiers to settle.
pub struct Settlement<'a> {
    receipt: Receipt,
    later: &'a dyn Fn() -> SettleLater,
}

impl<'a> Settlement<'a> {
    pub(crate) fn new(receipt: Receipt, later: &'a dyn Fn() -> SettleLater) -> Self {
        Self { receipt, later }
    }

    /// The tier with this limit, whose name is unique in a policy; `None` if it was not charged.
    pub(crate) fn tier<'s>(&'s mut self, limit: &'s str) -> Option<TierSettlement<'s, 'a>> {
        let may_settle = self.receipt.may_settle(limit);
        may_settle.then_some(TierSettlement {
            settlement: self,
            limit,
        })
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
    limit: &'s str,
}

impl TierSettlement<'_, '_> {
    /// Settles the charge to a cost.
    pub(crate) fn settle(&mut self, cost: u64) {
        self.settlement.receipt.settle(self.limit, cost);
    }

    /// Takes out the charge, to settle it when its cost is known, unless it was taken out before.
    pub(super) fn take(&mut self) -> Option<UnsettledCharge> {
        let receipt = self.settlement.receipt.take_limit(self.limit)?;
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
    /// The cost that was charged.
    pub(super) fn cost(&self) -> u64 {
        self.receipt.costs().map(|(_, cost)| u64::from(cost)).max().unwrap_or(0)
    }

    /// Settles to this cost.
    pub(super) fn settle(self, cost: u64) {
        if let Some(receipt) = self.receipt.settled(cost).corrected() {
            (self.settle)(receipt);
        }
    }
}
