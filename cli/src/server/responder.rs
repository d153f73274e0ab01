//! The responder of a server's limits: the library's responses, with their reason for metrics.

use std::convert::Infallible;

use http::Request;
use tollgate::{AnyAlgorithm, Decision, HttpResponder, KeyError, Outcome, Permit, Rejection, Respond, TierDecision};

use super::response::{RejectionReason, ServerResponse};

/// Responds like [`HttpResponder`], and adds the reason of a rejection to the response's extensions.
#[derive(Clone, Debug)]
pub(crate) struct ServerResponder {
    http: HttpResponder,
    /// Whether gRPC requests are rejected as gRPC clients expect, with the status 200.
    detects_grpc: bool,
}

impl ServerResponder {
    /// For responses that clients receive.
    pub(crate) fn for_clients() -> Self {
        Self {
            http: HttpResponder::default(),
            detects_grpc: true,
        }
    }

    /// For responses to a proxy, which decides by their status.
    pub(crate) fn for_proxies() -> Self {
        Self {
            http: HttpResponder::default(),
            detects_grpc: false,
        }
    }

    /// Fixes the type parameters of the responder's implementation.
    fn http<B>(&self) -> &impl Respond<Request<B>, ServerResponse, Infallible, Context = bool> {
        &self.http
    }
}

impl<B> Respond<Request<B>, ServerResponse, Infallible> for ServerResponder {
    /// Whether the response is for a gRPC client.
    type Context = bool;

    fn context(&self, request: &Request<B>) -> bool {
        self.detects_grpc && self.http().context(request)
    }

    fn forward(&self, decision: &Decision, request: &mut Request<B>) {
        self.http().forward(decision, request);
    }

    fn forward_permit(&self, permit: &Permit, request: &mut Request<B>) {
        self.http().forward_permit(permit, request);
    }

    fn reject(&self, is_grpc: bool, rejection: Rejection) -> Result<ServerResponse, Infallible> {
        let reason = reason(&rejection);
        let mut response = self.http::<B>().reject(is_grpc, rejection)?;
        response.extensions_mut().insert(reason);
        Ok(response)
    }

    fn admit(&self, is_grpc: bool, decision: &Decision, response: &mut ServerResponse) {
        self.http::<B>().admit(is_grpc, decision, response);
    }

    fn hold(&self, permit: Permit, response: &mut ServerResponse) {
        self.http::<B>().hold(permit, response);
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
