//! What a request is charged: which tiers apply to it, and on which terms.
//!
//! A policy is a chain of steps. Each looks at the request and either adds a charge to its [`Bill`], or changes what an
//! earlier step has put there. So a new way to charge is a new step, and nothing that carries policies has to know of it.
//! The methods of a [`RateLimitLayer`](crate::RateLimitLayer) add steps; these are their types.

mod bill;
mod per_key;
mod quota_by;
mod unlisted;

pub use self::{bill::Bill, per_key::PerKey, quota_by::QuotaBy, unlisted::Unlisted};

/// Says what a request is charged. It is sealed: what a step may do may still grow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a `{Req}` is charged",
    note = "each key of the layer must be a `KeyExtractor<{Req}>`, and each closure must take a `&{Req}`"
)]
pub trait Policy<Req>: sealed::Sealed {
    /// Adds to a request's bill, or changes what is on it.
    fn bill(&self, request: &Req, bill: &mut Bill);
}

/// No step: nothing is charged.
impl<Req> Policy<Req> for () {
    fn bill(&self, _: &Req, _: &mut Bill) {}
}

/// One step after another.
impl<Req, P: Policy<Req>, Q: Policy<Req>> Policy<Req> for (P, Q) {
    fn bill(&self, request: &Req, bill: &mut Bill) {
        self.0.bill(request, bill);
        self.1.bill(request, bill);
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
