//! The stages of a request: decided, delayed, served, settled by its response, and answered.

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

use super::enforcer::{self, Deferred, Enforcer, NotAdmitted};
use crate::{
    cancellation::{PendingAcquire, PendingSettle, RefundGuard},
    clock::Sleep,
    decision::Decision,
    decision_span::DecisionSpan,
    permit::Permit,
    policy::Policy,
    respond::{Rejection, Respond},
    store::Store,
    wait_queue::{QueuedDecision, WaitTimer},
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
        enforcer: Arc<Enforcer<P, St, R>>,
        context: Option<R::Context>,
        span: DecisionSpan,
        #[pin]
        stage: ResponseStage<S, Req, St, S::Future, S::Response>,
        // The slots that the request holds while it is served. After the stage: the service ends before they are released.
        permit: Option<Permit>,
    }
}

pin_project! {
    #[project = ResponseStageProjection]
    enum ResponseStage<S, Req, St: Store, F, Res> {
        Rejected { why: Option<Rejection> },
        // The service is ready.
        Deciding { acquire: PendingAcquire<St>, call: Option<(S, Req)> },
        // The service need not be ready: the clone that is ready stays with the caller while this request waits.
        Queued { decision: QueuedDecision<St>, call: Option<(S, Req)> },
        Delayed { #[pin] delay: Sleep, admitted: Option<Admitted<S, Req, St>>, timer: Option<WaitTimer> },
        PollingReady { admitted: Option<Admitted<S, Req, St>> },
        Calling { #[pin] response: F, decision: Decision },
        Settling { settle: PendingSettle<St>, served: Option<(Res, Decision)> },
    }
}

/// An admitted request, whose charge is refunded if it is dropped before it is served.
struct Admitted<S, Req, St: Store> {
    inner: S,
    request: Req,
    decision: Decision,
    refund_guard: Option<RefundGuard<St>>,
}

impl<S, Req, P, St, R> ResponseFuture<S, Req, P, St, R>
where
    S: Service<Req> + Clone,
    P: Policy<Req, S::Response>,
    St: Store,
    R: Respond<Req, S::Response, S::Error>,
{
    /// `inner` is ready.
    pub(super) fn new(enforcer: &Arc<Enforcer<P, St, R>>, inner: &mut S, mut request: Req) -> Self {
        let context = Some(enforcer.respond.context(&request));
        let mut span = DecisionSpan::none();
        let stage = match enforcer.admit(&request, &mut span) {
            Ok(mut decision) => {
                let permit = enforcer.permit(&mut decision);
                enforcer.forward(&decision, permit.as_ref(), &mut request);
                let response = inner.call(request);
                // Returned at once, since the future of the response is large to move.
                return Self {
                    enforcer: Arc::clone(enforcer),
                    context,
                    span,
                    stage: ResponseStage::Calling { response, decision },
                    permit,
                };
            }
            // The service that is ready goes with the request; the clone that replaces it need not be.
            Err(NotAdmitted::Deferred(deferred)) => {
                let clone = inner.clone();
                ResponseStage::defer(deferred, (mem::replace(inner, clone), request))
            }
            Err(NotAdmitted::Pending(acquire)) => {
                let clone = inner.clone();
                let call = Some((mem::replace(inner, clone), request));
                ResponseStage::Deciding { acquire, call }
            }
        };
        Self {
            enforcer: Arc::clone(enforcer),
            context,
            span,
            stage,
            permit: None,
        }
    }
}

impl<S, Req, St> ResponseStage<S, Req, St, S::Future, S::Response>
where
    S: Service<Req> + Clone,
    St: Store,
{
    /// Calls a service that is ready.
    fn call<P, R>(enforcer: &Enforcer<P, St, R>, admitted: Admitted<S, Req, St>, permit: &mut Option<Permit>) -> Self
    where
        R: Respond<Req, S::Response, S::Error>,
    {
        let Admitted {
            mut inner,
            mut request,
            mut decision,
            refund_guard,
        } = admitted;
        if let Some(receipt) = refund_guard.and_then(RefundGuard::take) {
            decision.restore_receipt(receipt);
        }
        *permit = enforcer.permit(&mut decision);
        enforcer.forward(&decision, permit.as_ref(), &mut request);
        let response = inner.call(request);
        Self::Calling { response, decision }
    }

    /// Queues or rejects a request, and drops the service that is ready, so that others can use its capacity.
    fn defer(deferred: Deferred<St>, (ready, request): (S, Req)) -> Self {
        match deferred {
            Deferred::Queued(decision) => {
                let call = Some((ready.clone(), request));
                Self::Queued { decision, call }
            }
            Deferred::Rejected(why) => Self::Rejected { why: Some(why) },
        }
    }

    /// Delays an admitted request by its decision's delay, and then polls the service until it is ready.
    fn delay(store: &St, (inner, request): (S, Req), mut decision: Decision) -> Self {
        let (clock, delay) = (store.clock(), decision.delay());
        let timer = decision.delayed_by().map(|tier| WaitTimer::start(clock, tier.limit()));
        let receipt = decision.take_receipt();
        let refund_guard = receipt.map(|receipt| RefundGuard::new(store.clone(), receipt));
        let admitted = Some(Admitted {
            inner,
            request,
            decision,
            refund_guard,
        });
        match delay.is_zero() {
            true => Self::PollingReady { admitted },
            false => Self::Delayed {
                delay: clock.sleep(delay),
                admitted,
                timer,
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
        let enforcer = &**this.enforcer;
        loop {
            let next = match this.stage.as_mut().project() {
                ResponseStageProjection::Calling { response, decision } => {
                    let response = ready!(response.poll(context));
                    let permit = this.permit.take();
                    let mut response = response?;
                    let Some(settle) = enforcer.settle(&mut response, decision) else {
                        let context = this.context.take().expect(POLLED_AFTER_COMPLETION);
                        enforcer.admit_response(context, decision, permit, &mut response);
                        return Poll::Ready(Ok(response));
                    };
                    *this.permit = permit;
                    let served = Some((response, decision.without_receipt()));
                    ResponseStage::Settling { settle, served }
                }
                ResponseStageProjection::Settling { settle, served } => {
                    let settled = ready!(settle.poll(context));
                    let (context, served) = this.context.take().zip(served.take()).expect(POLLED_AFTER_COMPLETION);
                    let (mut response, mut decision) = served;
                    settled.iter().for_each(|settled| decision.apply_settled(settled));
                    enforcer.admit_response(context, &decision, this.permit.take(), &mut response);
                    return Poll::Ready(Ok(response));
                }
                ResponseStageProjection::Rejected { why } => {
                    let (context, why) = this.context.take().zip(why.take()).expect(POLLED_AFTER_COMPLETION);
                    enforcer::log_rejection(&why);
                    return Poll::Ready(enforcer.respond.reject(context, why));
                }
                ResponseStageProjection::Deciding { acquire, call } => {
                    let result = ready!(this.span.in_scope(|| acquire.poll(&enforcer.store, context)));
                    let (inner, request) = call.take().expect(POLLED_AFTER_COMPLETION);
                    match enforcer.decide_or_queue(result, acquire.is_enforced(), this.span) {
                        Ok(decision) if decision.delay().is_zero() => {
                            let refund_guard = None;
                            let admitted = Admitted {
                                inner,
                                request,
                                decision,
                                refund_guard,
                            };
                            ResponseStage::call(enforcer, admitted, this.permit)
                        }
                        Ok(decision) => ResponseStage::delay(&enforcer.store, (inner.clone(), request), decision),
                        Err(deferred) => ResponseStage::defer(deferred, (inner, request)),
                    }
                }
                ResponseStageProjection::Queued { decision, call } => {
                    let result = ready!(this.span.in_scope(|| decision.as_mut().poll(context)));
                    match enforcer.finalize(result, this.span) {
                        Ok(decision) => {
                            ResponseStage::delay(&enforcer.store, call.take().expect(POLLED_AFTER_COMPLETION), decision)
                        }
                        Err(why) => ResponseStage::Rejected { why: Some(why) },
                    }
                }
                ResponseStageProjection::Delayed { delay, admitted, .. } => {
                    ready!(this.span.in_scope(|| delay.poll(context)));
                    this.span.close();
                    let admitted = admitted.take();
                    ResponseStage::PollingReady { admitted }
                }
                ResponseStageProjection::PollingReady { admitted } => {
                    let Admitted { inner, .. } = admitted.as_mut().expect(POLLED_AFTER_COMPLETION);
                    ready!(inner.poll_ready(context))?;
                    ResponseStage::call(enforcer, admitted.take().expect(POLLED_AFTER_COMPLETION), this.permit)
                }
            };
            this.stage.set(next);
        }
    }
}

const POLLED_AFTER_COMPLETION: &str = "polled after completion";

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
