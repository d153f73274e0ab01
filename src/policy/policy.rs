//! One step, or one step after another.

use super::{bill::Bill, correction::Correction, sealed::Sealed};

/// Says what a request is charged, and what of that is corrected when it is answered. It is sealed: what a step may do may
/// still grow.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a `{Req}` is charged that is answered with a `{Res}`",
    note = "each key of the layer must be a `KeyExtractor<{Req}>`, each closure about requests must take a `&{Req}`, and each \
            closure about responses a `&{Res}`"
)]
pub trait Policy<Req, Res>: Sealed {
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

impl<P, Q> Sealed for (P, Q) {}

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
