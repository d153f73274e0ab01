//! A request's way: decided, held if it has to queue, served, and told what was decided.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_service::Service;

use super::{
    gate::Gate,
    leaving::{Asking, Place},
};
use crate::{
    clock::Sleep,
    decision::Decision,
    policy::Policy,
    respond::{Rejection, Respond},
    store::Store,
};

pin_project! {
    /// The future of a [`RateLimit`](crate::RateLimit)'s response.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<S, Req, P, St, R>
    where
        S: Service<Req>,
        St: Store,
        R: Respond<Req, S::Response, S::Error>,
    {
        gate: Arc<Gate<P, St, R>>,
        context: Option<R::Context>,
        // What is to be served, and by whom, until it is.
        waiting: Option<(S, Req)>,
        #[pin]
        stage: Stage<St, S::Future>,
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<St: Store, F> {
        Rejected { why: Option<Rejection> },
        Deciding { asking: Asking<St> },
        Held { #[pin] turn: Sleep, admitted: Option<Admitted<St>> },
        Readying { admitted: Option<Admitted<St>> },
        Serving { #[pin] response: F, decision: Decision },
    }
}

/// An admitted request, which gives its place in the queue back if it never gets to be served.
struct Admitted<St: Store> {
    decision: Decision,
    place: Option<Place<St>>,
}

impl<S, Req, P, St, R> ResponseFuture<S, Req, P, St, R>
where
    S: Service<Req>,
    P: Policy<Req>,
    St: Store,
    R: Respond<Req, S::Response, S::Error>,
{
    /// `inner` is ready.
    pub(super) fn new(gate: Arc<Gate<P, St, R>>, mut inner: S, mut request: Req) -> Self {
        let context = Some(gate.respond.context(&request));
        let (stage, waiting) = match gate.ask(&request) {
            Err(why) => (Stage::Rejected { why: Some(why) }, None),
            Ok(Some(asking)) => (Stage::Deciding { asking }, Some((inner, request))),
            Ok(None) => {
                let decision = Decision::exempt(gate.store.clock().now());
                gate.respond.forward(&decision, &mut request);
                let response = inner.call(request);
                (Stage::Serving { response, decision }, None)
            }
        };
        Self {
            gate,
            context,
            waiting,
            stage,
        }
    }
}

impl<S, Req, P, St, R> Future for ResponseFuture<S, Req, P, St, R>
where
    S: Service<Req> + Clone,
    St: Store,
    R: Respond<Req, S::Response, S::Error>,
{
    type Output = Result<S::Response, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let gate = &*this.gate;
        loop {
            let admitted = match this.stage.as_mut().project() {
                StageProjection::Rejected { why } => {
                    let (context, why) = this.context.take().zip(why.take()).expect(POLLED_AGAIN);
                    return Poll::Ready(gate.respond.reject(context, why));
                }
                StageProjection::Deciding { asking } => match gate.weigh(ready!(asking.poll(&gate.store, context))) {
                    Err(why) => {
                        drop(this.waiting.take());
                        this.stage.set(Stage::Rejected { why: Some(why) });
                        continue;
                    }
                    Ok(mut decision) if !decision.delay().is_zero() => {
                        // Others may use what is ready while this request waits for its turn.
                        if let Some((inner, _)) = this.waiting {
                            *inner = inner.clone();
                        }
                        let receipt = decision.take_receipt();
                        let place = receipt.map(|receipt| Place::new(gate.store.clone(), receipt));
                        let turn = gate.store.clock().sleep(decision.delay());
                        let admitted = Some(Admitted { decision, place });
                        this.stage.set(Stage::Held { turn, admitted });
                        continue;
                    }
                    Ok(decision) => Admitted { decision, place: None },
                },
                StageProjection::Held { turn, admitted } => {
                    ready!(turn.poll(context));
                    let admitted = admitted.take();
                    this.stage.set(Stage::Readying { admitted });
                    continue;
                }
                StageProjection::Readying { admitted } => {
                    let (inner, _) = this.waiting.as_mut().expect(POLLED_AGAIN);
                    ready!(inner.poll_ready(context))?;
                    admitted.take().expect(POLLED_AGAIN)
                }
                StageProjection::Serving { response, decision } => {
                    let mut response = ready!(response.poll(context))?;
                    let context = this.context.take().expect(POLLED_AGAIN);
                    gate.respond.admit(context, decision, &mut response);
                    return Poll::Ready(Ok(response));
                }
            };
            let Admitted { decision, place } = admitted;
            let (mut inner, mut request) = this.waiting.take().expect(POLLED_AGAIN);
            gate.respond.forward(&decision, &mut request);
            let response = inner.call(request);
            place.into_iter().for_each(Place::take);
            this.stage.set(Stage::Serving { response, decision });
        }
    }
}

const POLLED_AGAIN: &str = "a future is not polled again after it is ready";

impl<S, Req, P, St, R> fmt::Debug for ResponseFuture<S, Req, P, St, R>
where
    S: Service<Req>,
    St: Store,
    R: Respond<Req, S::Response, S::Error>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
