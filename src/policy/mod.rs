//! What a request is charged: which tiers apply to it, on which terms, and what is corrected afterwards.
//!
//! A policy is a chain of steps. Each looks at the request and either adds a charge to its [`Bill`], or changes what an
//! earlier step has put there. So a new way to charge is a new step, and nothing that carries policies has to know of it.
//! The methods of a [`RateLimitLayer`](crate::RateLimitLayer) add steps; these are their types.

mod bill;
mod correction;
mod cost_by;
mod outcome;
mod per_key;
mod quota_by;
mod screen;
#[cfg(feature = "axum")]
mod settle_body;
mod shadow;
mod unlisted;

#[cfg(feature = "axum")]
pub use self::settle_body::{Sent, SettleBody};
pub use self::{
    bill::Bill,
    correction::Correction,
    cost_by::CostBy,
    outcome::{RefundIf, Settle},
    per_key::PerKey,
    quota_by::QuotaBy,
    screen::Screen,
    shadow::Shadow,
    unlisted::Unlisted,
};
#[cfg(feature = "rules")]
pub(crate) use self::{bill::Standing, sealed::Sealed};
pub(crate) use self::{bill::Unbilled, correction::SettleLater};

/// Says what a request is charged, and what of that is corrected when it is answered. It is sealed: what a step may do may
/// still grow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a `{Req}` is charged that is answered with a `{Res}`",
    note = "each key of the layer must be a `KeyExtractor<{Req}>`, each closure about requests must take a `&{Req}`, and each \
            closure about responses a `&{Res}`"
)]
pub trait Policy<Req, Res>: sealed::Sealed {
    /// Adds to a request's bill, or changes what is on it.
    fn bill(&self, request: &Req, bill: &mut Bill);

    /// Corrects what was charged, by the response.
    fn correct(&self, response: &Res, correction: &mut Correction<'_>) {
        let _ = (response, correction);
    }

    /// Sees to it that what no step has corrected is corrected later, when the response has been sent.
    fn correct_later(&self, response: &mut Res, correction: &mut Correction<'_>) {
        let _ = (response, correction);
    }
}

/// One step after another.
impl<Req, Res, P: Policy<Req, Res>, Q: Policy<Req, Res>> Policy<Req, Res> for (P, Q) {
    fn bill(&self, request: &Req, bill: &mut Bill) {
        self.0.bill(request, bill);
        self.1.bill(request, bill);
    }

    fn correct(&self, response: &Res, correction: &mut Correction<'_>) {
        self.0.correct(response, correction);
        self.1.correct(response, correction);
    }

    fn correct_later(&self, response: &mut Res, correction: &mut Correction<'_>) {
        self.0.correct_later(response, correction);
        self.1.correct_later(response, correction);
    }
}

mod sealed {
    /// Keeps [`Policy`](super::Policy) to the steps of this crate.
    pub trait Sealed {}

    impl<P, Q> Sealed for (P, Q) {}
    impl<K> Sealed for super::PerKey<K> {}
    impl<F> Sealed for super::QuotaBy<F> {}
    impl<C> Sealed for super::CostBy<C> {}
    impl Sealed for super::Unlisted {}
    impl Sealed for super::Shadow {}
    impl<M> Sealed for super::Screen<M> {}
    impl<F> Sealed for super::RefundIf<F> {}
    impl<F> Sealed for super::Settle<F> {}
    #[cfg(feature = "axum")]
    impl<F> Sealed for super::SettleBody<F> {}
}
