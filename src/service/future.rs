//! A request's way: decided, held if it has to wait, served, corrected if its response says so, and told what was decided.

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

use super::gate::{self, Asked, Gate, PutOff};
use crate::{
    clock::Sleep,
    decision::Decision,
    leaving::{Asking, Correcting, Place},
    observed::Observed,
    policy::Policy,
    respond::{Rejection, Respond},
    store::Store,
    waiting::{Waited, Waiting},
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
        observed: Observed,
        #[pin]
        stage: Stage<S, Req, St, S::Future, S::Response>,
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<S, Req, St: Store, F, Res> {
        Rejected { why: Option<Rejection> },
        // The service is ready.
        Deciding { asking: Asking<St>, call: Option<(S, Req)> },
        // The service is not ready any more: others may use what is, while this request waits.
        Waiting { waiting: Waiting<St>, call: Option<(S, Req)> },
        Held { #[pin] turn: Sleep, admitted: Option<Admitted<S, Req, St>>, waited: Option<Waited> },
        Readying { admitted: Option<Admitted<S, Req, St>> },
        Serving { #[pin] response: F, decision: Decision },
        Correcting { correcting: Correcting<St>, served: Option<(Res, Decision)> },
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
    P: Policy<Req, S::Response>,
    St: Store,
    R: Respond<Req, S::Response, S::Error>,
{
    /// `inner` is ready.
    pub(super) fn new(gate: &Arc<Gate<P, St, R>>, inner: &mut S, mut request: Req) -> Self {
        let context = Some(gate.respond.context(&request));
        let (asked, observed) = gate.ask(&request);
        let stage = match asked {
            Asked::Answered(Ok(decision)) => {
                gate.respond.forward(&decision, &mut request);
                let response = inner.call(request);
                Stage::Serving { response, decision }
            }
            // The clone need not be ready: it is left behind, and the one that is ready goes with the request.
            Asked::Answered(Err(put_off)) => {
                let clone = inner.clone();
                Stage::put_off(put_off, (mem::replace(inner, clone), request))
            }
            Asked::Asking(asking) => {
                let clone = inner.clone();
                let call = Some((mem::replace(inner, clone), request));
                Stage::Deciding { asking, call }
            }
        };
        let gate = Arc::clone(gate);
        Self {
            gate,
            context,
            observed,
            stage,
        }
    }
}

impl<S, Req, St> Stage<S, Req, St, S::Future, S::Response>
where
    S: Service<Req> + Clone,
    St: Store,
{
    /// Calls a service that is ready.
    fn serve<P, R>(gate: &Gate<P, St, R>, admitted: Admitted<S, Req, St>) -> Self
    where
        R: Respond<Req, S::Response, S::Error>,
    {
        let Admitted {
            mut inner,
            mut request,
            mut decision,
            place,
        } = admitted;
        gate.respond.forward(&decision, &mut request);
        let response = inner.call(request);
        if let Some(receipt) = place.and_then(Place::take) {
            decision.put_back(receipt);
        }
        Self::Serving { response, decision }
    }

    /// Lets a request wait, or answers it. Others may use the service that is ready meanwhile.
    fn put_off(put_off: PutOff<St>, (ready, request): (S, Req)) -> Self {
        match put_off {
            PutOff::Waiting(waiting) => {
                let call = Some((ready.clone(), request));
                Self::Waiting { waiting, call }
            }
            PutOff::Rejected(why) => Self::Rejected { why: Some(why) },
        }
    }

    /// Holds a request back until its turn, if that has not come yet, and then calls a service that need not be ready.
    fn hold(store: &St, (inner, request): (S, Req), mut decision: Decision) -> Self {
        let (clock, delay) = (store.clock(), decision.delay());
        let waited = decision.held_by().map(|tier| Waited::begin(clock, tier.limit()));
        let receipt = decision.take_receipt();
        let place = receipt.map(|receipt| Place::new(store.clone(), receipt));
        let admitted = Some(Admitted {
            inner,
            request,
            decision,
            place,
        });
        match delay.is_zero() {
            true => Self::Readying { admitted },
            false => Self::Held {
                turn: clock.sleep(delay),
                admitted,
                waited,
            },
        }
    }
}

impl<S, Req, P, St, R> Future for ResponseFuture<S, Req, P, St, R>
where
    S: Service<Req> + Clone,
    P: Policy<Req, S::Response>,
    St: Store,
    R: Respond<Req, S::Response, S::Error>,
{
    type Output = Result<S::Response, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let gate = &**this.gate;
        loop {
            let next = match this.stage.as_mut().project() {
                StageProjection::Serving { response, decision } => {
                    let mut response = ready!(response.poll(context))?;
                    let Some(correcting) = gate.correct(&mut response, decision) else {
                        let context = this.context.take().expect(POLLED_AGAIN);
                        gate.respond.admit(context, decision, &mut response);
                        return Poll::Ready(Ok(response));
                    };
                    let served = Some((response, decision.clone()));
                    Stage::Correcting { correcting, served }
                }
                StageProjection::Correcting { correcting, served } => {
                    let corrected = ready!(correcting.poll(context));
                    let (context, served) = this.context.take().zip(served.take()).expect(POLLED_AGAIN);
                    let (mut response, mut decision) = served;
                    corrected.iter().for_each(|corrected| decision.follow(corrected));
                    gate.respond.admit(context, &decision, &mut response);
                    return Poll::Ready(Ok(response));
                }
                StageProjection::Rejected { why } => {
                    let (context, why) = this.context.take().zip(why.take()).expect(POLLED_AGAIN);
                    gate::report(&why);
                    return Poll::Ready(gate.respond.reject(context, why));
                }
                StageProjection::Deciding { asking, call } => {
                    let answer = ready!(this.observed.inside(|| asking.poll(&gate.store, context)));
                    let (inner, request) = call.take().expect(POLLED_AGAIN);
                    match gate.weigh(answer, this.observed) {
                        Ok(decision) if decision.delay().is_zero() => {
                            let place = None;
                            let admitted = Admitted {
                                inner,
                                request,
                                decision,
                                place,
                            };
                            Stage::serve(gate, admitted)
                        }
                        Ok(decision) => Stage::hold(&gate.store, (inner.clone(), request), decision),
                        Err(put_off) => Stage::put_off(put_off, (inner, request)),
                    }
                }
                StageProjection::Waiting { waiting, call } => {
                    let answer = ready!(this.observed.inside(|| waiting.as_mut().poll(context)));
                    match gate.judge(answer, this.observed) {
                        Ok(decision) => Stage::hold(&gate.store, call.take().expect(POLLED_AGAIN), decision),
                        Err(why) => Stage::Rejected { why: Some(why) },
                    }
                }
                StageProjection::Held { turn, admitted, .. } => {
                    ready!(this.observed.inside(|| turn.poll(context)));
                    this.observed.close();
                    let admitted = admitted.take();
                    Stage::Readying { admitted }
                }
                StageProjection::Readying { admitted } => {
                    let Admitted { inner, .. } = admitted.as_mut().expect(POLLED_AGAIN);
                    ready!(inner.poll_ready(context))?;
                    Stage::serve(gate, admitted.take().expect(POLLED_AGAIN))
                }
            };
            this.stage.set(next);
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
