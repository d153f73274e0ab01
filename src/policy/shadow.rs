//! A tier that is only watched.

use super::{Bill, Policy, sealed::Sealed};

/// Makes a tier a shadow: it is evaluated and reported, and refuses nobody.
#[derive(Clone, Debug)]
pub struct Shadow {
    tier: Box<str>,
}

impl Shadow {
    /// The tier of this name.
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
