//! The options of a tier: its quota and cost per request, and corrections by the response.

use super::{policy::Sealed, settlement::TierSettlement};
use crate::charge::Charge;

/// The options of a tier that depend on the request or on its response.
///
/// The trait is sealed, since it may get more methods.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not the options of a tier for requests of type `{Req}` and responses of type `{Res}`",
    note = "each closure for requests must take a `&{Req}`, and each closure for responses a `&{Res}`"
)]
pub trait TierOptions<Req, Res>: Sealed {
    /// Sets the quota or the cost of the request's charge.
    fn adjust(&self, request: &Req, charge: &mut Charge) {
        let _ = (request, charge);
    }

    /// Whether the response may settle the charge.
    fn may_settle(&self) -> bool {
        false
    }

    /// Whether it reads the body of the response, which then must not be compressed.
    fn reads_body(&self) -> bool {
        false
    }

    /// The true cost, if the response determines it.
    fn response_cost(&self, response: &Res) -> Option<u64> {
        let _ = response;
        None
    }

    /// Settles the charge when the body of the response ends.
    fn settle_at_end(&self, response: &mut Res, settlement: &mut TierSettlement<'_, '_>) {
        let _ = (response, settlement);
    }
}

/// No options.
impl<Req, Res> TierOptions<Req, Res> for () {}

/// Options, and one that follows them and takes precedence.
impl<Req, Res, O: TierOptions<Req, Res>, P: TierOptions<Req, Res>> TierOptions<Req, Res> for (O, P) {
    fn adjust(&self, request: &Req, charge: &mut Charge) {
        self.0.adjust(request, charge);
        self.1.adjust(request, charge);
    }

    fn may_settle(&self) -> bool {
        self.0.may_settle() || self.1.may_settle()
    }

    fn reads_body(&self) -> bool {
        self.0.reads_body() || self.1.reads_body()
    }

    fn response_cost(&self, response: &Res) -> Option<u64> {
        self.1
            .response_cost(response)
            .or_else(|| self.0.response_cost(response))
    }

    fn settle_at_end(&self, response: &mut Res, settlement: &mut TierSettlement<'_, '_>) {
        // The first one takes the charge.
        self.1.settle_at_end(response, settlement);
        self.0.settle_at_end(response, settlement);
    }
}
