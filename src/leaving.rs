//! Clients that leave before they are served.
//!
//! A charge stays when its request is dropped, with one exception: a place in a queue, which would be kept free for
//! nobody. It is given back, and so is what the other tiers took for that request.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker, ready},
};

use crate::{charge::Charges, decision::Decision, operation::Operation, receipt::Receipt, store::Store};

/// A question to the store, which is asked when somebody first waits for the answer. If nobody waits for it any more and
/// it is a place in a queue, that is given back.
pub(crate) struct Asking<St: Store> {
    stage: Stage<St>,
    /// Where a place in a queue is given back, if it is about one.
    queue: Option<St>,
}

enum Stage<St: Store> {
    Question(Charges),
    Answer(St::Future),
    Done,
}

impl<St: Store> Asking<St> {
    pub(crate) fn new(charges: Charges, queue: Option<St>) -> Self {
        let stage = Stage::Question(charges);
        Self { stage, queue }
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
        if let Some(store) = self.queue.take()
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

    /// Its request is served.
    pub(crate) fn take(mut self) {
        self.receipt = None;
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
