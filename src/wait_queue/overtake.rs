//! Overtaking the head of a queue: one attempt of the request behind it.

use std::{future::Future, pin::Pin};

use tokio::sync::OwnedMutexGuard;

use super::queues::WaitingHead;
use crate::{
    cancellation::{RefundGuard, complete},
    charge::Charges,
    decision::Decision,
    operation::Operation,
    store::Store,
    time::{Micros, micros},
};

/// The result of an attempt.
pub(super) enum Overtake {
    /// The request is admitted, and the head still can be before its deadline.
    Admitted {
        decision: Decision,
        /// What the store would decide about the head now.
        head: Decision,
    },
    Denied(Decision),
    /// The request would be admitted, but then the head would not be before its deadline. Nothing is charged.
    HeadFirst,
}

/// The steps of an attempt. They are boxed: only requests that try to overtake pay for them.
type OvertakeSteps<St> = Pin<Box<dyn Future<Output = Result<Overtake, <St as Store>::Error>> + Send>>;

/// An attempt to overtake. If it is dropped, it is completed in the background, and what it charged is refunded.
pub(super) struct PendingOvertake<St: Store> {
    store: St,
    /// `None` after its completion.
    steps: Option<OvertakeSteps<St>>,
    /// The turn to ask the store, which ends after the last step.
    turn: Option<OwnedMutexGuard<()>>,
}

impl<St: Store> PendingOvertake<St> {
    pub(super) fn new(store: &St, charges: Charges, head: WaitingHead, turn: OwnedMutexGuard<()>) -> Self {
        Self {
            store: store.clone(),
            steps: Some(Box::pin(overtake(store.clone(), charges, head))),
            turn: Some(turn),
        }
    }

    pub(super) async fn wait(mut self) -> Result<Overtake, St::Error> {
        let steps = self.steps.as_mut();
        let result = steps.expect("polled after completion").await;
        self.steps = None;
        result
    }
}

impl<St: Store> Drop for PendingOvertake<St> {
    fn drop(&mut self) {
        if let Some(steps) = self.steps.take() {
            let (store, turn) = (self.store.clone(), self.turn.take());
            complete(async move {
                let result = steps.await.ok();
                if let Some(Overtake::Admitted { mut decision, .. }) = result
                    && let Some(receipt) = decision.take_receipt()
                {
                    drop(store.apply(Operation::refund(receipt)).await);
                }
                drop(turn);
            });
        }
    }
}

/// Acquires the charges, and refunds them if the head could not be admitted before its deadline any more.
async fn overtake<St: Store>(store: St, charges: Charges, head: WaitingHead) -> Result<Overtake, St::Error> {
    let mut decision = store.apply(Operation::Acquire(charges)).await?;
    let Some(receipt) = decision.take_receipt() else {
        return Ok(Overtake::Denied(decision));
    };
    // If the store fails now, the guard refunds in the background.
    let refund_guard = RefundGuard::new(store.clone(), receipt);
    let peeked = store.apply(Operation::Peek(head.charges)).await?;
    let now = store.clock().now();
    let receipt = refund_guard.take();
    // A fallback knows nothing of what the head waits for in the store, and the store nothing of the fallback.
    if can_admit_until(&peeked, now, head.deadline) && peeked.source() == decision.source() {
        receipt
            .into_iter()
            .for_each(|receipt| decision.restore_receipt(receipt));
        let head = peeked;
        return Ok(Overtake::Admitted { decision, head });
    }
    if let Some(receipt) = receipt {
        drop(store.apply(Operation::refund(receipt)).await);
    }
    Ok(Overtake::HeadFirst)
}

/// Whether a request with this decision at `now` can be admitted until `deadline`.
fn can_admit_until(decision: &Decision, now: Micros, deadline: Micros) -> bool {
    match decision.retry_after() {
        Some(wait) => now.saturating_add(micros(wait)) <= deadline,
        None => decision.admits(),
    }
}
