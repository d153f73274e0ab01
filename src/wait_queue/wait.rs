//! One request's wait: from joining a queue to its final decision.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
    time::Duration,
};

use super::{
    overtake::{Overtake, PendingOvertake},
    queues::{HeadPermit, QueueKey, QueueSlot, WaitQueues},
};
use crate::{
    cancellation::PendingAcquire,
    charge::Charges,
    clock::Clock,
    decision::{Decision, TierDecision},
    limit::Limit,
    operation::Operation,
    store::Store,
    time::{Micros, micros},
};

/// How often the head of a queue asks for a slot that may have been released elsewhere.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

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
    /// Until when the store denies these charges, as far as it is known.
    denied_until: Micros,
}

/// How the wait behind a head ends.
enum TurnOutcome<'a> {
    Head(HeadPermit<'a>),
    Final(Decision),
    DeadlinePassed,
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
            denied_until: 0,
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
            (Some(key), Some(charges)) if self.may_be_admitted(&denial) => {
                let request = QueuedRequest {
                    key,
                    charges,
                    decision: Some(*denial),
                    denied_until: 0,
                };
                Ok(Box::pin(request.run(store.clone(), self.clone())))
            }
            _ => Err(denial),
        }
    }
}

impl WaitConfig {
    /// Whether a denied request may be admitted before the maximal wait.
    fn may_be_admitted(&self, denial: &Decision) -> bool {
        let is_in_time = denial
            .binding_tier()
            .is_some_and(|tier| tier.denied_for() <= self.max_wait);
        is_in_time && !self.max_wait.is_zero()
    }
}

impl QueuedRequest {
    /// The decision that admits the request, or the last denial.
    async fn run<St: Store>(mut self, store: St, config: WaitConfig) -> Result<Decision, St::Error> {
        let (clock, queues) = (store.clock(), &config.queues);
        let deadline = clock.now().saturating_add(micros(config.max_wait));
        loop {
            let Some(slot) = queues.join(&self.key, &self.charges, deadline) else {
                return self.final_denial(&store, queues).await;
            };
            let denied_for = self
                .decision
                .as_ref()
                .and_then(Decision::binding_tier)
                .map(TierDecision::denied_for);
            self.denied_until = denied_for.map_or(0, |wait| clock.now().saturating_add(micros(wait)));
            let _timer = WaitTimer::start(clock, self.key.limit());
            let turn = self.wait_for_turn(&store, &slot, deadline).await?;
            let _head = match turn {
                TurnOutcome::Head(head) => head,
                TurnOutcome::Final(decision) => return Ok(decision),
                TurnOutcome::DeadlinePassed => {
                    self.decision = None;
                    return self.final_denial(&store, queues).await;
                }
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

    /// Waits to become the head. The request behind the head also tries to overtake it: at once, and after its own `retry_after`.
    async fn wait_for_turn<'a, St: Store>(
        &mut self,
        store: &St,
        slot: &'a QueueSlot,
        deadline: Micros,
    ) -> Result<TurnOutcome<'a>, St::Error> {
        let clock = store.clock();
        let Some(_next) = until(deadline, clock, slot.wait_for_next()).await else {
            return Ok(TurnOutcome::DeadlinePassed);
        };
        let mut head = pin!(slot.wait_for_head());
        loop {
            let now = clock.now();
            let target = slot.head_to_overtake(&self.charges, self.denied_until, now, deadline);
            let wake_at = target.map_or(deadline, |(at, _)| at.min(deadline));
            let denied = either(head.as_mut(), slot.wait_for_head_denial());
            match until(wake_at, clock, denied).await {
                Some(Either::First(head)) => return Ok(TurnOutcome::Head(head)),
                Some(Either::Second(())) => continue,
                None => {}
            }
            let turn = match until(deadline, clock, either(head.as_mut(), slot.wait_for_store())).await {
                Some(Either::First(head)) => return Ok(TurnOutcome::Head(head)),
                Some(Either::Second(turn)) => turn,
                None => return Ok(TurnOutcome::DeadlinePassed),
            };
            let now = clock.now();
            match slot.head_to_overtake(&self.charges, self.denied_until, now, deadline) {
                Some((at, target)) if at <= now => {
                    let charges = self.charges.clone();
                    match PendingOvertake::new(store, charges, target, turn).wait().await? {
                        Overtake::Admitted { decision, head } => {
                            slot.publish_overtaken(head, clock.now());
                            return Ok(TurnOutcome::Final(decision));
                        }
                        // Its hint says nothing about when a slot becomes free.
                        Overtake::Denied(decision) if decision.waits_for_slot() => {
                            self.denied_until = clock.now().saturating_add(micros(POLL_INTERVAL));
                        }
                        Overtake::Denied(decision) => match decision.retry_after() {
                            Some(wait) if now.saturating_add(micros(wait)) <= deadline => {
                                self.denied_until = clock.now().saturating_add(micros(wait));
                            }
                            _ => return Ok(TurnOutcome::Final(decision)),
                        },
                        // Only a refund could change that, which takes effect when this request is the head.
                        Overtake::HeadFirst => self.denied_until = Micros::MAX,
                    }
                }
                _ if now >= deadline => return Ok(TurnOutcome::DeadlinePassed),
                _ => {}
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
        // A decision from before others left the queue is out of date. So may be a denial for want of a slot: one that was released
        // before this request joined the queue has woken no request.
        let is_current = |decision: &Decision| slot.is_first() && !decision.waits_for_slot();
        let mut last = self.decision.take().filter(is_current);
        loop {
            // At the deadline it asks out of turn: the task of a request that overtakes may be busy with other work.
            let turn = until(deadline, store.clock(), slot.wait_for_store()).await;
            // Before the call: what it takes must not count towards the deadline, which an overtaking request may have left no
            // other time for.
            let asked_at = store.clock().now();
            let decision = match last.take() {
                Some(decision) => decision,
                None => acquire(store, self.charges.clone()).await?,
            };
            let (Some(wait), Some(key)) = (decision.retry_after(), QueueKey::of_denial(&decision)) else {
                return Ok(HeadOutcome::Final(decision));
            };
            let is_late = match decision.waits_for_slot() {
                true => asked_at >= deadline,
                false => asked_at.saturating_add(micros(wait)) > deadline,
            };
            if is_late {
                return Ok(HeadOutcome::Final(decision));
            }
            if key != self.key {
                return Ok(HeadOutcome::MoveTo(decision, key));
            }
            // Published only if the head stays: otherwise the next request may be admitted sooner.
            slot.publish(&decision, store.clock().now(), deadline);
            drop(turn);
            match decision.waits_for_slot() {
                true => {
                    let poll_at = asked_at.saturating_add(micros(POLL_INTERVAL)).min(deadline);
                    until(poll_at, store.clock(), slot.wait_for_slots()).await;
                }
                false => store.clock().sleep(wait).await,
            }
        }
    }

    /// The denial of a request that cannot wait (any longer): its own; or the head's, if only the order of arrival denies it.
    async fn final_denial<St: Store>(self, store: &St, queues: &WaitQueues) -> Result<Decision, St::Error> {
        let (key, charges, clock) = (&self.key, &self.charges, store.clock());
        if let Some(denial) = self.decision.or_else(|| queues.own_denial(key, charges, clock.now())) {
            return Ok(denial);
        }
        let decision = store.apply(Operation::Peek(charges.clone())).await?;
        if !decision.admits() {
            return Ok(decision);
        }
        match queues.head_denial(key, charges, clock.now()) {
            Some(denial) => Ok(denial),
            None => acquire(store, self.charges).await,
        }
    }
}

/// Acquires charges, which are refunded if the future is dropped before the decision.
async fn acquire<St: Store>(store: &St, charges: Charges) -> Result<Decision, St::Error> {
    PendingAcquire::refundable(store, charges).wait(store).await
}

/// The future's output, or `None` at the given time.
async fn until<T>(time: Micros, clock: &Clock, future: impl Future<Output = T>) -> Option<T> {
    let left = Duration::from_micros(time.saturating_sub(clock.now()));
    let (mut future, mut timeout) = (pin!(future), pin!(clock.sleep(left)));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => timeout.as_mut().poll(context).map(|()| None),
    })
    .await
}

enum Either<A, B> {
    First(A),
    Second(B),
}

/// The output of the future that is ready first.
async fn either<A, B>(first: impl Future<Output = A>, second: impl Future<Output = B>) -> Either<A, B> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|context| match first.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Either::First(output)),
        Poll::Pending => second.as_mut().poll(context).map(Either::Second),
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

#[cfg(test)]
mod tests;
