//! The responder of a lane: the library's responses, with the decision for the page.

use std::convert::Infallible;

use http::{Request, Response};
use tollgate::{Decision, DecisionExtension, HttpResponder, Permit, Rejection, Respond};

/// Responds like [`HttpResponder`], and adds the decision to the response's extensions.
#[derive(Clone, Debug, Default)]
pub(super) struct DecisionResponder(HttpResponder);

type LaneResponse = Response<String>;

/// Fixes the type parameters of the responder's implementation.
fn inner(responder: &HttpResponder) -> &impl Respond<Request<()>, LaneResponse, Infallible, Context = bool> {
    responder
}

impl Respond<Request<()>, LaneResponse, Infallible> for DecisionResponder {
    type Context = bool;

    fn context(&self, request: &Request<()>) -> bool {
        inner(&self.0).context(request)
    }

    fn forward(&self, decision: &Decision, request: &mut Request<()>) {
        inner(&self.0).forward(decision, request);
    }

    fn forward_permit(&self, permit: &Permit, request: &mut Request<()>) {
        inner(&self.0).forward_permit(permit, request);
    }

    fn reject(&self, context: bool, rejection: Rejection) -> Result<LaneResponse, Infallible> {
        let decision = match &rejection {
            Rejection::Limited(decision) => Some(DecisionExtension::new(decision)),
            _ => None,
        };
        let mut response = inner(&self.0).reject(context, rejection)?;
        if let Some(decision) = decision {
            response.extensions_mut().insert(decision);
        }
        Ok(response)
    }

    fn admit(&self, context: bool, decision: &Decision, response: &mut LaneResponse) {
        inner(&self.0).admit(context, decision, response);
        response.extensions_mut().insert(DecisionExtension::new(decision));
    }
}
