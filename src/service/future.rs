//! A request's way: decided, held if it has to queue, served, and told what was decided.

use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tower_service::Service;

use super::gate::{Asked, Gate};
use crate::{
    clock::Sleep,
    decision::Decision,
    leaving::{Asking, Place},
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
        #[pin]
        stage: Stage<S, Req, St, S::Future>,
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<S, Req, St: Store, F> {
        Rejected { why: Option<Rejection> },
        // The service is ready.
        Deciding { asking: Asking<St>, waiting: Option<(S, Req)> },
        Held { #[pin] turn: Sleep, admitted: Option<Admitted<S, Req, St>> },
        Readying { admitted: Option<Admitted<S, Req, St>> },
        Serving { #[pin] response: F, decision: Decision },
    }
}

/// An admitted request, which gives its place in the queue back if it never gets to be served.
struct Admitted<S, Req, St: Store> {
    inner: S,
    request: Req,
    decision: Decision,
    place: Option<Place<St>>,
}

impl<S, Req, P, St, R> ResponseFuture<S, Req, P, St, R>
where
    S: Service<Req> + Clone,
    P: Policy<Req>,
    St: Store,
    R: Respond<Req, S::Response, S::Error>,
{
    /// `inner` is ready.
    pub(super) fn new(gate: &Arc<Gate<P, St, R>>, inner: &mut S, mut request: Req) -> Self {
        let context = Some(gate.respond.context(&request));
        let stage = match gate.ask(&request) {
            Ok(Asked::Admitted(decision)) => {
                gate.respond.forward(&decision, &mut request);
                let response = inner.call(request);
                Stage::Serving { response, decision }
            }
            Ok(Asked::Waiting(asking)) => {
                // The clone need not be ready: it is left behind, and the one that is ready goes with the request.
                let clone = inner.clone();
                let waiting = Some((mem::replace(inner, clone), request));
                Stage::Deciding { asking, waiting }
            }
            Err(why) => {
                // Others may use what is ready.
                *inner = inner.clone();
                Stage::Rejected { why: Some(why) }
            }
        };
        let gate = Arc::clone(gate);
        Self { gate, context, stage }
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
                StageProjection::Serving { response, decision } => {
                    let mut response = ready!(response.poll(context))?;
                    let context = this.context.take().expect(POLLED_AGAIN);
                    gate.respond.admit(context, decision, &mut response);
                    return Poll::Ready(Ok(response));
                }
                StageProjection::Rejected { why } => {
                    let (context, why) = this.context.take().zip(why.take()).expect(POLLED_AGAIN);
                    return Poll::Ready(gate.respond.reject(context, why));
                }
                StageProjection::Deciding { asking, waiting } => {
                    let answer = ready!(asking.poll(&gate.store, context));
                    let (inner, request) = waiting.take().expect(POLLED_AGAIN);
                    let mut decision = match gate.weigh(answer) {
                        Ok(decision) => decision,
                        Err(why) => {
                            this.stage.set(Stage::Rejected { why: Some(why) });
                            continue;
                        }
                    };
                    if decision.delay().is_zero() {
                        let place = None;
                        Admitted {
                            inner,
                            request,
                            decision,
                            place,
                        }
                    } else {
                        let receipt = decision.take_receipt();
                        let place = receipt.map(|receipt| Place::new(gate.store.clone(), receipt));
                        let turn = gate.store.clock().sleep(decision.delay());
                        // Others may use what is ready while this request waits for its turn.
                        let inner = inner.clone();
                        let admitted = Some(Admitted {
                            inner,
                            request,
                            decision,
                            place,
                        });
                        this.stage.set(Stage::Held { turn, admitted });
                        continue;
                    }
                }
                StageProjection::Held { turn, admitted } => {
                    ready!(turn.poll(context));
                    let admitted = admitted.take();
                    this.stage.set(Stage::Readying { admitted });
                    continue;
                }
                StageProjection::Readying { admitted } => {
                    let Admitted { inner, .. } = admitted.as_mut().expect(POLLED_AGAIN);
                    ready!(inner.poll_ready(context))?;
                    admitted.take().expect(POLLED_AGAIN)
                }
            };
            let Admitted {
                mut inner,
                mut request,
                decision,
                place,
            } = admitted;
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
