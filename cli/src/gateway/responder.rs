//! The responder of the gateway's limits: the library's responses, with their reason for metrics.

use std::convert::Infallible;

use http::Request;
use hyper::body::Incoming;
use tollgate::{Decision, HttpResponder, Rejection, Respond};

use super::response::ProxyResponse;

/// Responds like [`HttpResponder`], and adds the error of a request without a usable key to the response's extensions.
#[derive(Clone, Debug, Default)]
pub(super) struct GatewayResponder(HttpResponder);

/// Fixes the type parameters of the responder's implementation.
fn inner(responder: &HttpResponder) -> &impl Respond<Request<Incoming>, ProxyResponse, Infallible, Context = bool> {
    responder
}

impl Respond<Request<Incoming>, ProxyResponse, Infallible> for GatewayResponder {
    type Context = bool;

    fn context(&self, request: &Request<Incoming>) -> bool {
        inner(&self.0).context(request)
    }

    fn forward(&self, decision: &Decision, request: &mut Request<Incoming>) {
        inner(&self.0).forward(decision, request);
    }

    fn reject(&self, context: bool, rejection: Rejection) -> Result<ProxyResponse, Infallible> {
        let error = match &rejection {
            Rejection::Key(error) => Some(error.clone()),
            _ => None,
        };
        let mut response = inner(&self.0).reject(context, rejection)?;
        if let Some(error) = error {
            response.extensions_mut().insert(error);
        }
        Ok(response)
    }

    fn admit(&self, context: bool, decision: &Decision, response: &mut ProxyResponse) {
        inner(&self.0).admit(context, decision, response);
    }
}
