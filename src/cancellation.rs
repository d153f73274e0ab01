//! What happens to charges when a client disconnects before it is answered.
//!
//! A dropped request keeps its charge, with two exceptions. A request that was delayed in a leaky bucket's queue, or that waited in a
//! wait queue, and never got to the service is refunded in every tier. And slots of concurrency limits are always released. (The Redis
//! store drops what it has not sent yet, so that it is never charged; unless the keys are in several slots of a cluster.)

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

use crate::{
    charge::{Charge, Charges},
    decision::Decision,
    operation::Operation,
    receipt::Receipt,
    store::Store,
};

/// An acquire. It is sent on the first poll.
pub(crate) struct PendingAcquire<St: Store> {
    stage: AcquireStage<St>,
    on_drop: OnDrop<St>,
    /// Whether one of the charges is no shadow.
    is_enforced: bool,
}

/// What happens to the charges of an acquire that is dropped before the decision.
enum OnDrop<St> {
    Keep,
    /// Only slots are released.
    Release(St),
    Refund(St),
}

enum AcquireStage<St: Store> {
    NotSent(Charges),
    Sent(St::Future),
    Done,
}

impl<St: Store> PendingAcquire<St> {
    /// An acquire that keeps its charges when it is dropped, but no slots.
    pub(crate) fn new(store: &St, charges: Charges) -> Self {
        let on_drop = match charges.may_hold() {
            true => OnDrop::Release(store.clone()),
            false => OnDrop::Keep,
        };
        Self::not_sent(charges, on_drop)
    }

    /// An acquire that refunds all charges when it is dropped.
    pub(crate) fn refundable(store: &St, charges: Charges) -> Self {
        Self::not_sent(charges, OnDrop::Refund(store.clone()))
    }

    fn not_sent(charges: Charges, on_drop: OnDrop<St>) -> Self {
        Self {
            is_enforced: !charges.iter().all(Charge::is_shadow),
            stage: AcquireStage::NotSent(charges),
            on_drop,
        }
    }

    /// Whether a tier may deny the request: shadows do not.
    pub(crate) fn is_enforced(&self) -> bool {
        self.is_enforced
    }

    pub(crate) async fn wait(mut self, store: &St) -> Result<Decision, St::Error> {
        poll_fn(|context| self.poll(store, context)).await
    }

    pub(crate) fn poll(&mut self, store: &St, context: &mut Context<'_>) -> Poll<Result<Decision, St::Error>> {
        if let AcquireStage::NotSent(charges) = &mut self.stage {
            let charges = std::mem::take(charges);
            self.stage = AcquireStage::Sent(store.apply(Operation::Acquire(charges)));
        }
        let AcquireStage::Sent(response) = &mut self.stage else {
            panic!("polled after completion");
        };
        let result = ready!(Pin::new(response).poll(context));
        self.stage = AcquireStage::Done;
        Poll::Ready(result)
    }
}

impl<St: Store> Drop for PendingAcquire<St> {
    fn drop(&mut self) {
        let (store, take): (_, fn(&mut Decision) -> Option<Receipt>) =
            match std::mem::replace(&mut self.on_drop, OnDrop::Keep) {
                OnDrop::Keep => return,
                OnDrop::Release(store) => (store, Decision::take_held),
                OnDrop::Refund(store) => (store, Decision::take_receipt),
            };
        if let AcquireStage::Sent(response) = std::mem::replace(&mut self.stage, AcquireStage::Done) {
            complete(async move {
                let receipt = response.await.ok().and_then(|mut decision| take(&mut decision));
                drop(receipt.map(|receipt| RefundGuard::new(store, receipt)));
            });
        }
    }
}

/// Refunds a charge when it is dropped, unless the receipt has been taken out.
pub(crate) struct RefundGuard<St: Store> {
    store: St,
    receipt: Option<Receipt>,
}

impl<St: Store> RefundGuard<St> {
    pub(crate) fn new(store: St, receipt: Receipt) -> Self {
        let receipt = Some(receipt);
        Self { store, receipt }
    }

    /// Disarms the guard: the request is about to be served.
    pub(crate) fn take(mut self) -> Option<Receipt> {
        self.receipt.take()
    }
}

impl<St: Store> Drop for RefundGuard<St> {
    fn drop(&mut self) {
        if let Some(receipt) = self.receipt.take() {
            let refund = self.store.apply(Operation::refund(receipt));
            complete(async move { drop(refund.await) });
        }
    }
}

/// A settle or a refund under way, which completes in the background if it is dropped.
pub(crate) struct PendingSettle<St: Store>(Option<St::Future>);

impl<St: Store> PendingSettle<St> {
    pub(crate) fn new(store: &St, receipt: Receipt) -> Self {
        Self(Some(store.apply(Operation::settle(receipt))))
    }

    pub(crate) fn refund(store: &St, receipt: Receipt) -> Self {
        Self(Some(store.apply(Operation::refund(receipt))))
    }

    /// The verdicts after it; `None` if the store failed, and the charge stays as it was.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Decision>> {
        let Some(settle) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let result = ready!(Pin::new(settle).poll(context));
        self.0 = None;
        Poll::Ready(result.ok())
    }
}

impl<St: Store> Drop for PendingSettle<St> {
    fn drop(&mut self) {
        if let Some(settle) = self.0.take() {
            complete(async move { drop(settle.await) });
        }
    }
}

/// Settles a charge in the background.
pub(crate) fn settle<St: Store>(store: &St, receipt: Receipt) {
    drop(PendingSettle::new(store, receipt));
}

/// Polls the work once, and spawns what is still pending then: the memory store's futures need no task.
pub(crate) fn complete(work: impl Future<Output = ()> + Send + 'static) {
    let mut work = Box::pin(work);
    let first = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    if first.is_pending()
        && let Ok(runtime) = tokio::runtime::Handle::try_current()
    {
        runtime.spawn(work);
    }
}
