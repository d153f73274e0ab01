//! What the steps of a policy correct once there is a response.
#![cfg_attr(
    not(feature = "axum"),
    allow(dead_code, reason = "only bodies are settled later, and only axum's")
)]

use std::fmt;

use crate::receipt::Receipt;

/// Settles a receipt, and nobody waits for it.
pub(crate) type SettleLater = Box<dyn FnOnce(Receipt) + Send>;

/// The charges of a request that is being answered, which steps may still correct.
pub struct Correction<'a> {
    receipt: Receipt,
    later: &'a dyn Fn() -> SettleLater,
}

impl<'a> Correction<'a> {
    pub(crate) fn new(receipt: Receipt, later: &'a dyn Fn() -> SettleLater) -> Self {
        Self { receipt, later }
    }

    /// Whether something was charged to the tier of this name.
    pub(super) fn is_about(&self, tier: &str) -> bool {
        self.receipt.costs().any(|(limit, _)| limit.name() == tier)
    }

    /// Corrects the charge of this tier when all steps have spoken.
    pub(super) fn settle(&mut self, tier: &str, cost: u64) {
        self.receipt.settle_for(tier, cost);
    }

    /// Leaves the charge of this tier to somebody who will know the cost later, if nobody has known it now.
    pub(super) fn later(&mut self, tier: &str) -> Option<Settling> {
        let receipt = self.receipt.take_unsettled(tier)?;
        let settle = (self.later)();
        Some(Settling { receipt, settle })
    }

    /// What is to be corrected now, if anything is.
    pub(crate) fn due(self) -> Option<Receipt> {
        self.receipt.corrected()
    }
}

/// A charge that is settled when its cost is known. Dropped, it stays as it is.
pub(super) struct Settling {
    receipt: Receipt,
    settle: SettleLater,
}

impl Settling {
    pub(super) fn to(self, cost: u64) {
        (self.settle)(self.receipt.settled(cost));
    }
}

impl fmt::Debug for Correction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Correction")
            .field("receipt", &self.receipt)
            .finish_non_exhaustive()
    }
}
