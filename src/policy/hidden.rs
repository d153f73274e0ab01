//! Tiers that clients do not see.

use super::{Bill, Policy, policy::Sealed};

/// Hides a tier from clients: a global tier would reveal how busy the service is.
#[derive(Clone, Debug)]
pub struct Hidden {
    tier: Box<str>,
}

impl Hidden {
    /// For the tier of this name.
    pub(crate) fn new(tier: &str) -> Self {
        Self { tier: tier.into() }
    }
}

impl Sealed for Hidden {}

impl<Req, Res> Policy<Req, Res> for Hidden {
    fn bill(&self, _: &Req, bill: &mut Bill) {
        if let Some(charge) = bill.tier(&self.tier) {
            charge.hidden = true;
        }
    }
}
