//! Costs per request: bytes, batch sizes, query complexity.

use std::fmt;

use super::{Bill, Policy, policy::Sealed};
use crate::{extract::CostExtractor, quota};

/// Sets the cost of a tier's charge per request.
#[derive(Clone)]
pub struct CostBy<C> {
    tier: Box<str>,
    cost: C,
}

impl<C> CostBy<C> {
    /// For the tier of this name.
    pub(crate) fn new(tier: &str, cost: C) -> Self {
        let tier = tier.into();
        Self { tier, cost }
    }
}

impl<C> Sealed for CostBy<C> {}

impl<Req, Res, C: CostExtractor<Req>> Policy<Req, Res> for CostBy<C> {
    fn bill(&self, request: &Req, bill: &mut Bill) {
        if let Some(charge) = bill.tier(&self.tier) {
            if let Some(cost) = self.cost.cost(request) {
                charge.cost = quota::bounded(cost);
            }
            if let Some(unit) = self.cost.unit() {
                charge.limit.set_unit(unit);
            }
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
