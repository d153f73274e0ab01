//! Tiers that are evaluated but not enforced.

use super::{Bill, Policy, policy::Sealed};

/// Makes a tier a shadow: it is evaluated and reported, but neither denies nor delays.
#[derive(Clone, Debug)]
pub struct Shadow {
    tier: Box<str>,
}

impl Shadow {
    /// For the tier of this name.
    pub(crate) fn new(tier: &str) -> Self {
        Self { tier: tier.into() }
    }
}

impl Sealed for Shadow {}

impl<Req, Res> Policy<Req, Res> for Shadow {
    fn bill(&self, _: &Req, bill: &mut Bill) {
        bill.shadow(&self.tier);
    }
}
