//! The trait of all steps, and chains of steps.

use super::{bill::Bill, correction::Correction};

/// Restricts implementations of [`Policy`] to this crate.
pub trait Sealed {}

/// Determines what a request is charged, and how its response corrects the charges.
///
/// The trait is sealed, since it may get more methods.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a policy for requests of type `{Req}` and responses of type `{Res}`",
    note = "each key of the layer must implement `KeyExtractor<{Req}>`, each closure for requests must take a `&{Req}`, and \
            each closure for responses a `&{Res}`"
)]
pub trait Policy<Req, Res>: Sealed {
    /// Adds charges to a request's bill, or changes those of earlier steps.
    fn bill(&self, request: &Req, bill: &mut Bill);

    /// Corrects charges by the response.
    fn correct(&self, response: &Res, correction: &mut Correction<'_>) {
        let _ = (response, correction);
    }

    /// Defers the correction of charges that no step has corrected until the response has been sent.
    fn correct_later(&self, response: &mut Res, correction: &mut Correction<'_>) {
        let _ = (response, correction);
    }
}

impl<P, Q> Sealed for (P, Q) {}

/// A chain: a policy and the step that follows it.
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
