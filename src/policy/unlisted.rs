//! A tier that clients are not told of.

use super::{Bill, Policy, sealed::Sealed};

/// Keeps a tier out of what clients are told: a global tier tells outsiders how busy the service is.
#[derive(Clone, Debug)]
pub struct Unlisted {
    tier: Box<str>,
}

impl Unlisted {
    /// The tier of this name.
    pub(crate) fn new(tier: &str) -> Self {
        Self { tier: tier.into() }
    }
}

impl Sealed for Unlisted {}

impl<Req, Res> Policy<Req, Res> for Unlisted {
    fn bill(&self, _: &Req, bill: &mut Bill) {
        if let Some(charge) = bill.tier(&self.tier) {
            charge.listed = false;
        }
    }
}
