//! What a request is charged, and how its response settles the charges.

use super::{charge_builder::ChargeBuilder, settlement::Settlement};

/// Restricts implementations of [`Policy`] and [`TierOptions`](super::TierOptions) to this crate.
pub trait Sealed {}

/// Determines what a request is charged, and how its response settles the charges.
///
/// The trait is sealed, since it may get more methods.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot limit requests of type `{Req}` with responses of type `{Res}`",
    note = "each key of the layer must implement `KeyExtractor<{Req}>`, each closure for requests must take a `&{Req}`, and \
            each closure for responses a `&{Res}`"
)]
pub trait Policy<Req, Res>: Sealed {
    /// Adds charges for a request, or exempts or blocks it.
    fn charge(&self, request: &Req, charges: &mut ChargeBuilder);

    /// Settles charges by the response.
    fn settle(&self, response: &mut Res, settlement: &mut Settlement<'_>) {
        let _ = (response, settlement);
    }
}

impl Sealed for () {}

/// Nothing: the end of a chain.
impl<Req, Res> Policy<Req, Res> for () {
    fn charge(&self, _: &Req, _: &mut ChargeBuilder) {}
}

impl<P, Q> Sealed for (P, Q) {}

/// A policy, and one that follows it.
impl<Req, Res, P: Policy<Req, Res>, Q: Policy<Req, Res>> Policy<Req, Res> for (P, Q) {
    fn charge(&self, request: &Req, charges: &mut ChargeBuilder) {
        self.0.charge(request, charges);
        self.1.charge(request, charges);
    }

    fn settle(&self, response: &mut Res, settlement: &mut Settlement<'_>) {
        self.0.settle(response, settlement);
        self.1.settle(response, settlement);
    }
}
