//! What a request is charged: which tiers apply to it, and on which terms.
//!
//! A policy is a chain of steps. Each looks at the request and either adds a charge to what there is, or changes one that
//! an earlier step has added. So a new way to charge is a new step, and nothing that carries policies has to know of it.

mod per_key;
mod quota_by;
mod unlisted;

pub use self::{per_key::PerKey, quota_by::QuotaBy, unlisted::Unlisted};
use crate::{charge::Charges, extract::KeyError};

/// Says what a request is charged.
///
/// ```
/// use tollgate::{Charges, Global, Limit, Quota, TokenBucket, policy::{PerKey, Policy, Unlisted}};
///
/// let limit = Limit::new("global", TokenBucket::new(Quota::per_second(1000)));
/// let steps = (PerKey::new(limit, Global), Unlisted::new("global"));
///
/// let mut charges = Charges::new();
/// steps.charges(&"any request", &mut charges)?;
/// assert_eq!(charges.len(), 1);
/// # Ok::<(), tollgate::KeyError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a `{Req}` is charged",
    note = "each key of the layer must be a `KeyExtractor<{Req}>`, and each closure must take a `&{Req}`"
)]
pub trait Policy<Req> {
    /// Adds to the charges, or changes them.
    fn charges(&self, request: &Req, charges: &mut Charges) -> Result<(), KeyError>;
}

/// No step: nothing is charged.
impl<Req> Policy<Req> for () {
    fn charges(&self, _: &Req, _: &mut Charges) -> Result<(), KeyError> {
        Ok(())
    }
}

/// One step after another.
impl<Req, P: Policy<Req>, Q: Policy<Req>> Policy<Req> for (P, Q) {
    fn charges(&self, request: &Req, charges: &mut Charges) -> Result<(), KeyError> {
        self.0.charges(request, charges)?;
        self.1.charges(request, charges)
    }
}
