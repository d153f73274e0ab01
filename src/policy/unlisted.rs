//! A tier that clients are not told of.

use super::Policy;
use crate::{charge::Charges, extract::KeyError};

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

impl<Req> Policy<Req> for Unlisted {
    fn charges(&self, _: &Req, charges: &mut Charges) -> Result<(), KeyError> {
        if let Some(charge) = charges.named_mut(&self.tier) {
            charge.listed = false;
        }
        Ok(())
    }
}
