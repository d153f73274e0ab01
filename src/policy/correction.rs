//! Corrections of charges by the response.
#![cfg_attr(
    not(feature = "axum"),
    allow(dead_code, reason = "only `settle_body` settles later, and it requires axum")
)]

use std::fmt;

use crate::receipt::Receipt;

/// Settles a receipt in the background.
pub(crate) type SettleLater = Box<dyn FnOnce(Receipt) + Send>;

/// The charges of a request that has a response, for steps to correct.
pub struct Correction<'a> {
    receipt: Receipt,
    later: &'a dyn Fn() -> SettleLater,
}

impl<'a> Correction<'a> {
    pub(crate) fn new(receipt: Receipt, later: &'a dyn Fn() -> SettleLater) -> Self {
        Self { receipt, later }
    }

    /// Whether the tier of this name was charged.
    pub(super) fn is_about(&self, tier: &str) -> bool {
        self.receipt.costs().any(|(limit, _)| limit.name() == tier)
    }

    /// Corrects the charge of this tier, unless a later step corrects it to another cost.
    pub(super) fn settle(&mut self, tier: &str, cost: u64) {
        self.receipt.settle_for(tier, cost);
    }

    /// Takes out the charge of this tier, to settle it when its cost is known, unless a step has corrected it.
    pub(super) fn later(&mut self, tier: &str) -> Option<Settling> {
        let receipt = self.receipt.take_unsettled(tier)?;
        let settle = (self.later)();
        Some(Settling { receipt, settle })
    }

    /// The receipt to settle now, if a step has corrected a charge.
    pub(crate) fn due(self) -> Option<Receipt> {
        self.receipt.corrected()
    }
}

/// A charge that is settled when its cost is known. If this is dropped, the charge stays as it is.
pub(super) struct Settling {
    receipt: Receipt,
    settle: SettleLater,
}

impl Settling {
    pub(super) fn to(self, cost: u64) {
        (self.settle)(self.receipt.settled(cost));
    }

    /// Settles to this cost if it exceeds what was charged.
    pub(super) fn raise_to(self, cost: u64) {
        if self.receipt.costs().any(|(_, charged)| cost > u64::from(charged)) {
            self.to(cost);
        }
    }
}

impl fmt::Debug for Correction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Correction")
            .field("receipt", &self.receipt)
            .finish_non_exhaustive()
    }
}
