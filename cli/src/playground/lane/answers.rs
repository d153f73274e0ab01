//! The answers of a lane: what any client of the layer is told, and the decision for whoever draws it.

use std::convert::Infallible;

use http::{Request, Response};
use tollgate::{Decision, HttpAnswers, Rejection, Respond};

/// Answers as [`HttpAnswers`] does, and leaves the decision in the response's extensions.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(HttpAnswers);

type Answer = Response<String>;

/// The layer's own answers, to requests of this kind.
fn own(answers: &HttpAnswers) -> &impl Respond<Request<()>, Answer, Infallible, Context = bool> {
    answers
}

impl Respond<Request<()>, Answer, Infallible> for Answers {
    type Context = bool;

    fn context(&self, request: &Request<()>) -> bool {
        own(&self.0).context(request)
    }

    fn forward(&self, decision: &Decision, request: &mut Request<()>) {
        own(&self.0).forward(decision, request);
    }

    fn reject(&self, context: bool, why: Rejection) -> Result<Answer, Infallible> {
        let decision = match &why {
            Rejection::Limited(decision) => Some(Decision::clone(decision)),
            _ => None,
        };
        let mut answer = own(&self.0).reject(context, why)?;
        if let Some(decision) = decision {
            answer.extensions_mut().insert(decision);
        }
        Ok(answer)
    }

    fn admit(&self, context: bool, decision: &Decision, answer: &mut Answer) {
        own(&self.0).admit(context, decision, answer);
        answer.extensions_mut().insert(decision.clone());
    }
}
