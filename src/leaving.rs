//! Clients that leave before they are answered.
//!
//! A charge stays when its request is dropped, with one exception: what somebody waited for before they could be served,
//! a place in a queue or their turn in a line. It would be kept free for nobody, so it is given back, and so is what the
//! other tiers took for that request.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

use crate::{charge::Charges, decision::Decision, operation::Operation, receipt::Receipt, store::Store};

/// A question to the store, which is asked when somebody first waits for the answer. If nobody waits for it any more and
/// it is about something to wait for, that is given back.
pub(crate) struct Asking<St: Store> {
    stage: Stage<St>,
    /// Where what was taken for nobody is given back, if it is.
    give_back: Option<St>,
}

enum Stage<St: Store> {
    Question(Charges),
    Answer(St::Future),
    Done,
}

impl<St: Store> Asking<St> {
    pub(crate) fn new(charges: Charges, give_back: Option<St>) -> Self {
        let stage = Stage::Question(charges);
        Self { stage, give_back }
    }

    pub(crate) fn poll(&mut self, store: &St, context: &mut Context<'_>) -> Poll<Result<Decision, St::Error>> {
        if let Stage::Question(charges) = &mut self.stage {
            let charges = std::mem::take(charges);
            self.stage = Stage::Answer(store.apply(Operation::Acquire(charges)));
        }
        let Stage::Answer(answer) = &mut self.stage else {
            panic!("nobody asks for an answer twice");
        };
        let answer = ready!(Pin::new(answer).poll(context));
        self.stage = Stage::Done;
        Poll::Ready(answer)
    }
}

impl<St: Store> Drop for Asking<St> {
    fn drop(&mut self) {
        if let Some(store) = self.give_back.take()
            && let Stage::Answer(answer) = std::mem::replace(&mut self.stage, Stage::Done)
        {
            finish(async move {
                let receipt = answer.await.ok().and_then(|mut decision| decision.take_receipt());
                drop(receipt.map(|receipt| Place::new(store, receipt)));
            });
        }
    }
}

/// A place in a queue, which is given back unless it is taken.
pub(crate) struct Place<St: Store> {
    store: St,
    receipt: Option<Receipt>,
}

impl<St: Store> Place<St> {
    pub(crate) fn new(store: St, receipt: Receipt) -> Self {
        let receipt = Some(receipt);
        Self { store, receipt }
    }

    /// Its request is served: the receipt, for what comes of that.
    pub(crate) fn take(mut self) -> Option<Receipt> {
        self.receipt.take()
    }
}

impl<St: Store> Drop for Place<St> {
    fn drop(&mut self) {
        if let Some(receipt) = self.receipt.take() {
            let refunded = self.store.apply(Operation::Refund(receipt));
            finish(async move { drop(refunded.await) });
        }
    }
}

/// A charge that is being corrected, which is seen through if nobody waits for it any more.
pub(crate) struct Correcting<St: Store>(Option<St::Future>);

impl<St: Store> Correcting<St> {
    pub(crate) fn new(store: &St, receipt: Receipt) -> Self {
        Self(Some(store.apply(Operation::Settle(receipt))))
    }

    /// What is left now, if the store can tell. A charge that it cannot correct stays as it is.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Decision>> {
        let Some(settled) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let settled = ready!(Pin::new(settled).poll(context));
        self.0 = None;
        Poll::Ready(settled.ok())
    }
}

impl<St: Store> Drop for Correcting<St> {
    fn drop(&mut self) {
        if let Some(settled) = self.0.take() {
            finish(async move { drop(settled.await) });
        }
    }
}

/// Corrects a charge, and nobody waits for it.
pub(crate) fn settle<St: Store>(store: &St, receipt: Receipt) {
    drop(Correcting::new(store, receipt));
}

/// Sees work through that nobody waits for: at once where it does not wait for anything itself, else in a task.
fn finish(work: impl Future<Output = ()> + Send + 'static) {
    let mut work = Box::pin(work);
    let first = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    if first.is_pending()
        && let Ok(runtime) = tokio::runtime::Handle::try_current()
    {
        runtime.spawn(work);
    }
}
