//! One request's wait: from joining a queue to its final decision.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use super::queues::{QueueKey, QueueSlot, WaitQueues};
use crate::{
    cancellation::PendingAcquire,
    charge::Charges,
    clock::Clock,
    decision::Decision,
    limit::Limit,
    store::Store,
    time::{Micros, micros},
};

/// How long requests wait at most, and in which queues.
#[derive(Clone, Debug)]
pub(crate) struct WaitConfig {
    pub(crate) max_wait: Duration,
    pub(crate) queues: Arc<WaitQueues>,
}

/// The decision of a request that waits. It is boxed: only requests that wait pay for it.
pub(crate) type QueuedDecision<St> = Pin<Box<dyn Future<Output = Result<Decision, <St as Store>::Error>> + Send>>;

/// A request that waits in a queue.
struct QueuedRequest {
    charges: Charges,
    key: QueueKey,
    /// The store's last decision about these charges, if it was asked.
    decision: Option<Decision>,
}

/// What the head of a queue does next.
enum HeadOutcome {
    Final(Decision),
    /// The store denied the request for a key that has another queue.
    MoveTo(Decision, QueueKey),
}

impl WaitConfig {
    /// Queues the request if others already wait for one of its keys.
    pub(crate) fn join_existing<St: Store>(&self, store: &St, charges: &Charges) -> Option<QueuedDecision<St>> {
        let request = QueuedRequest {
            key: self.queues.existing_queue(charges)?,
            charges: charges.clone(),
            decision: None,
        };
        Some(Box::pin(request.run(store.clone(), self.clone())))
    }

    /// Acquires the charges, behind those that already wait, and waits if they are denied.
    pub(crate) async fn acquire<St: Store>(&self, store: &St, charges: Charges) -> Result<Decision, St::Error> {
        let queued = match self.join_existing(store, &charges) {
            Some(queued) => queued,
            None => match acquire(store, charges).await? {
                decision if decision.admits() => return Ok(decision),
                denial => match self.join_after_denial(store, denial.into()) {
                    Ok(queued) => queued,
                    Err(denial) => return Ok(*denial),
                },
            },
        };
        queued.await
    }

    /// Queues a denied request, unless its `retry_after` exceeds the maximal wait.
    pub(crate) fn join_after_denial<St: Store>(
        &self,
        store: &St,
        denial: Box<Decision>,
    ) -> Result<QueuedDecision<St>, Box<Decision>> {
        match (QueueKey::of_denial(&denial), denial.charges()) {
            (Some(key), Some(charges)) if denial.retry_after() <= Some(self.max_wait) => {
                let request = QueuedRequest {
                    key,
                    charges,
                    decision: Some(*denial),
                };
                Ok(Box::pin(request.run(store.clone(), self.clone())))
            }
            _ => Err(denial),
        }
    }
}

impl QueuedRequest {
    /// The decision that admits the request, or the last denial.
    async fn run<St: Store>(mut self, store: St, config: WaitConfig) -> Result<Decision, St::Error> {
        let (clock, queues) = (store.clock(), &config.queues);
        let deadline = clock.now().saturating_add(micros(config.max_wait));
        loop {
            let Some(slot) = queues.join(&self.key, deadline) else {
                return self.final_denial(&store, queues).await;
            };
            let _timer = WaitTimer::start(clock, self.key.limit());
            let Some(_head) = until_deadline(deadline, clock, slot.wait_for_head()).await else {
                self.decision = None;
                return self.final_denial(&store, queues).await;
            };
            match self.at_head(&store, &slot, deadline).await? {
                HeadOutcome::Final(decision) => return Ok(decision),
                HeadOutcome::MoveTo(decision, key) => {
                    self.decision = Some(decision);
                    self.key = key;
                }
            }
        }
    }

    /// Asks the store, sleeps for its `retry_after`, and asks again.
    async fn at_head<St: Store>(
        &mut self,
        store: &St,
        slot: &QueueSlot,
        deadline: Micros,
    ) -> Result<HeadOutcome, St::Error> {
        // A decision from before others left the queue is out of date.
        let mut last = self.decision.take().filter(|_| slot.is_first());
        loop {
            let decision = match last.take() {
                Some(decision) => decision,
                None => acquire(store, self.charges.clone()).await?,
            };
            let (Some(wait), Some(key)) = (decision.retry_after(), QueueKey::of_denial(&decision)) else {
                return Ok(HeadOutcome::Final(decision));
            };
            let now = store.clock().now();
            if now.saturating_add(micros(wait)) > deadline {
                return Ok(HeadOutcome::Final(decision));
            }
            if key != self.key {
                return Ok(HeadOutcome::MoveTo(decision, key));
            }
            // Published only if the head stays: otherwise the next request may be admitted sooner.
            slot.publish(&decision, now);
            store.clock().sleep(wait).await;
        }
    }

    /// The last decision, or the head's denial applied to these charges; without either, the store is asked.
    async fn final_denial<St: Store>(self, store: &St, queues: &WaitQueues) -> Result<Decision, St::Error> {
        let head_denial = || queues.denial(&self.key, &self.charges, store.clock().now());
        match self.decision.or_else(head_denial) {
            Some(denial) => Ok(denial),
            None => acquire(store, self.charges).await,
        }
    }
}

/// Acquires charges, which are refunded if the future is dropped before the decision.
async fn acquire<St: Store>(store: &St, charges: Charges) -> Result<Decision, St::Error> {
    PendingAcquire::new(charges, Some(store.clone())).wait(store).await
}

async fn until_deadline<T>(deadline: Micros, clock: &Clock, future: impl Future<Output = T>) -> Option<T> {
    let left = Duration::from_micros(deadline.saturating_sub(clock.now()));
    let (mut future, mut timeout) = (pin!(future), pin!(clock.sleep(left)));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => timeout.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// Records how long a limit delayed a request, when it is dropped.
#[derive(Debug)]
pub(crate) struct WaitTimer {
    limit: Limit,
    clock: Clock,
    since: Micros,
}

impl WaitTimer {
    pub(crate) fn start(clock: &Clock, limit: &Limit) -> Self {
        Self {
            limit: limit.clone(),
            since: clock.now(),
            clock: clock.clone(),
        }
    }
}

impl Drop for WaitTimer {
    fn drop(&mut self) {
        let time = self.clock.now().saturating_sub(self.since);
        self.limit.metrics().record_wait(Duration::from_micros(time));
    }
}
