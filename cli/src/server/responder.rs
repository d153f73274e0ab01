//! The responder of a server's limits: the library's responses, with their reason for metrics.

use std::convert::Infallible;

use http::Request;
use hyper::body::Incoming;
use tollgate::{AnyAlgorithm, Decision, HttpResponder, KeyError, Outcome, Permit, Rejection, Respond, TierDecision};

use super::response::{RejectionReason, ServerResponse};

/// Responds like [`HttpResponder`], and adds the reason of a rejection to the response's extensions.
#[derive(Clone, Debug, Default)]
pub(super) struct ServerResponder(HttpResponder);

/// Fixes the type parameters of the responder's implementation.
fn inner(responder: &HttpResponder) -> &impl Respond<Request<Incoming>, ServerResponse, Infallible, Context = bool> {
    responder
}

impl Respond<Request<Incoming>, ServerResponse, Infallible> for ServerResponder {
    type Context = bool;

    fn context(&self, request: &Request<Incoming>) -> bool {
        inner(&self.0).context(request)
    }

    fn forward(&self, decision: &Decision, request: &mut Request<Incoming>) {
        inner(&self.0).forward(decision, request);
    }

    fn forward_permit(&self, permit: &Permit, request: &mut Request<Incoming>) {
        inner(&self.0).forward_permit(permit, request);
    }

    fn reject(&self, context: bool, rejection: Rejection) -> Result<ServerResponse, Infallible> {
        let reason = reason(&rejection);
        let mut response = inner(&self.0).reject(context, rejection)?;
        response.extensions_mut().insert(reason);
        Ok(response)
    }

    fn admit(&self, context: bool, decision: &Decision, response: &mut ServerResponse) {
        inner(&self.0).admit(context, decision, response);
    }

    fn hold(&self, permit: Permit, response: &mut ServerResponse) {
        inner(&self.0).hold(permit, response);
    }
}

/// The status does not tell the reason: a concurrency limit may deny with 503, which is also the status while the store fails.
fn reason(rejection: &Rejection) -> RejectionReason {
    match rejection {
        Rejection::Limited(decision) if is_denied_by_concurrency(decision) => RejectionReason::AllSlotsHeld,
        Rejection::Key(KeyError::Ambiguous { .. }) => RejectionReason::KeyAmbiguous,
        Rejection::Key(_) => RejectionReason::KeyMissing,
        Rejection::Unavailable(_) => RejectionReason::Unavailable,
        _ => RejectionReason::Limited,
    }
}

/// Whether only concurrency limits deny the request, and it would be admitted once enough slots are free.
fn is_denied_by_concurrency(decision: &Decision) -> bool {
    let waits_for_slot = |tier: &TierDecision| {
        let is_concurrency = matches!(tier.limit().algorithm(), AnyAlgorithm::Concurrency(_));
        is_concurrency && tier.verdict().outcome() != Outcome::Impossible
    };
    let mut tiers = decision.tiers().iter();
    tiers.all(|tier| tier.is_shadow() || tier.verdict().outcome().admits() || waits_for_slot(tier))
}
