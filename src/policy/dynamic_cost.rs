//! Costs per request: bytes, batch sizes, query complexity.

use std::fmt;

use super::{options::TierOptions, policy::Sealed};
use crate::{charge::Charge, extract::CostExtractor, quota};

/// Sets the cost of a tier's charge per request.
#[derive(Clone)]
pub struct DynamicCost<C>(pub(super) C);

impl<C> Sealed for DynamicCost<C> {}

impl<Req, Res, C: CostExtractor<Req>> TierOptions<Req, Res> for DynamicCost<C> {
    fn adjust(&self, request: &Req, charge: &mut Charge) {
        if let Some(cost) = self.0.cost(request) {
            charge.cost = quota::bounded(cost);
        }
        if let Some(unit) = self.0.unit() {
            charge.limit.set_unit(unit);
        }
    }
}

impl<C> fmt::Debug for DynamicCost<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicCost").finish_non_exhaustive()
    }
}
