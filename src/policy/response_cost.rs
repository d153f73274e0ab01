//! Costs by the response.

use std::fmt;

use super::{options::TierOptions, policy::Sealed};
use crate::extract::IntoCost;

/// Refunds a tier's charge if a closure returns true for the response.
#[derive(Clone)]
pub struct RefundIf<F>(pub(super) F);

impl<F> Sealed for RefundIf<F> {}

impl<Req, Res, F: Fn(&Res) -> bool> TierOptions<Req, Res> for RefundIf<F> {
    fn may_settle(&self) -> bool {
        true
    }

    fn response_cost(&self, response: &Res) -> Option<u64> {
        (self.0)(response).then_some(0)
    }
}

/// Corrects a tier's charge to the cost that a closure returns for the response.
#[derive(Clone)]
pub struct Settle<F>(pub(super) F);

impl<F> Sealed for Settle<F> {}

impl<Req, Res, F, C> TierOptions<Req, Res> for Settle<F>
where
    F: Fn(&Res) -> C,
    C: IntoCost,
{
    fn may_settle(&self) -> bool {
        true
    }

    fn response_cost(&self, response: &Res) -> Option<u64> {
        (self.0)(response).into_cost()
    }
}

impl<F> fmt::Debug for RefundIf<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefundIf").finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for Settle<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settle").finish_non_exhaustive()
    }
}
