//! What the costs of a tier count.

use super::{Bill, Policy, policy::Sealed};
use crate::quota::QuotaUnit;

/// Names what a tier counts, for clients.
#[derive(Clone, Debug)]
pub struct Unit {
    tier: Box<str>,
    unit: QuotaUnit,
}

impl Unit {
    /// For the tier of this name.
    pub(crate) fn new(tier: &str, unit: QuotaUnit) -> Self {
        let tier = tier.into();
        Self { tier, unit }
    }
}

impl Sealed for Unit {}

impl<Req, Res> Policy<Req, Res> for Unit {
    fn bill(&self, _: &Req, bill: &mut Bill) {
        if let Some(charge) = bill.tier(&self.tier) {
            charge.limit.set_unit(self.unit);
        }
    }
}
