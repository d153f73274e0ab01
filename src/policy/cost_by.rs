//! A cost by request: bytes, batches, the complexity of a query.

use std::fmt;

use super::{Bill, Policy, sealed::Sealed};
use crate::{extract::CostExtractor, quota};

/// Charges a tier what a request costs.
#[derive(Clone)]
pub struct CostBy<C> {
    tier: Box<str>,
    cost: C,
}

impl<C> CostBy<C> {
    /// The cost that `cost` says, for the tier of this name.
    pub(crate) fn new(tier: &str, cost: C) -> Self {
        let tier = tier.into();
        Self { tier, cost }
    }
}

impl<C> Sealed for CostBy<C> {}

impl<Req, Res, C: CostExtractor<Req>> Policy<Req, Res> for CostBy<C> {
    fn bill(&self, request: &Req, bill: &mut Bill) {
        if let Some(charge) = bill.tier(&self.tier)
            && let Some(cost) = self.cost.cost(request)
        {
            charge.cost = quota::bounded(cost);
        }
    }
}

impl<C> fmt::Debug for CostBy<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CostBy")
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}
