//! Corrections of a tier's charge by the response.

use std::fmt;

use super::{Bill, Correction, Policy, policy::Sealed};
use crate::extract::IntoCost;

/// Refunds a tier's charge if a closure returns true for the response.
#[derive(Clone)]
pub struct RefundIf<F> {
    tier: Box<str>,
    refund: F,
}

impl<F> RefundIf<F> {
    /// For the tier of this name.
    pub(crate) fn new(tier: &str, refund: F) -> Self {
        let tier = tier.into();
        Self { tier, refund }
    }
}

impl<F> Sealed for RefundIf<F> {}

impl<Req, Res, F: Fn(&Res) -> bool> Policy<Req, Res> for RefundIf<F> {
    fn bill(&self, _: &Req, bill: &mut Bill) {
        bill.expect_correction(&self.tier);
    }

    fn correct(&self, response: &Res, correction: &mut Correction<'_>) {
        if correction.is_about(&self.tier) && (self.refund)(response) {
            correction.settle(&self.tier, 0);
        }
    }
}

/// Corrects a tier's charge to the cost that a closure returns for the response.
#[derive(Clone)]
pub struct Settle<F> {
    tier: Box<str>,
    cost: F,
}

impl<F> Settle<F> {
    /// For the tier of this name.
    pub(crate) fn new(tier: &str, cost: F) -> Self {
        let tier = tier.into();
        Self { tier, cost }
    }
}

impl<F> Sealed for Settle<F> {}

impl<Req, Res, F, C> Policy<Req, Res> for Settle<F>
where
    F: Fn(&Res) -> C,
    C: IntoCost,
{
    fn bill(&self, _: &Req, bill: &mut Bill) {
        bill.expect_correction(&self.tier);
    }

    fn correct(&self, response: &Res, correction: &mut Correction<'_>) {
        if correction.is_about(&self.tier)
            && let Some(cost) = (self.cost)(response).into_cost()
        {
            correction.settle(&self.tier, cost);
        }
    }
}

impl<F> fmt::Debug for RefundIf<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefundIf")
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for Settle<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settle")
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}
