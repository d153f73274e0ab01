//! What a request is charged: which tiers apply to it, and on which terms.
//!
//! A policy is a chain of steps. Each looks at the request and either adds a charge to what there is, or changes one that
//! an earlier step has added. So a new way to charge is a new step, and nothing that carries policies has to know of it.
//! The methods of a [`RateLimitLayer`](crate::RateLimitLayer) add steps; these are their types.

mod per_key;
mod quota_by;
mod unlisted;

pub use self::{per_key::PerKey, quota_by::QuotaBy, unlisted::Unlisted};
use crate::{charge::Charges, extract::KeyError};

/// Says what a request is charged. It is sealed: what a step may do may still grow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a `{Req}` is charged",
    note = "each key of the layer must be a `KeyExtractor<{Req}>`, and each closure must take a `&{Req}`"
)]
pub trait Policy<Req>: sealed::Sealed {
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

mod sealed {
    /// Keeps [`Policy`](super::Policy) to the steps of this crate.
    pub trait Sealed {}

    impl Sealed for () {}
    impl<P, Q> Sealed for (P, Q) {}
    impl<K> Sealed for super::PerKey<K> {}
    impl<F> Sealed for super::QuotaBy<F> {}
    impl Sealed for super::Unlisted {}
}
