//! The future of a decision.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{runtime::Handle, time::Instant};

use super::{awaited::Awaited, queue::Answer, send, shared::Shared, spread};
use crate::{
    decision::Decision,
    metrics::{StoreCallOutcome, StoreCallTimer},
    operation::Operation,
    store::redis::error::StoreError,
};

/// The future of a [`RedisStore`](crate::RedisStore)'s decision. It sends nothing before it is first polled.
#[must_use = "futures do nothing unless polled"]
pub struct RedisDecision {
    shared: Arc<Shared>,
    /// `None` after the first poll.
    operation: Option<Operation>,
    awaited: Option<(StoreCallTimer, Awaited)>,
}

impl RedisDecision {
    pub(crate) fn new(shared: Arc<Shared>, operation: Operation) -> Self {
        Self {
            shared,
            operation: Some(operation),
            awaited: None,
        }
    }

    /// The answer if Redis is not needed for it, or the operation.
    fn known(&self, operation: Operation) -> Result<Answer, Operation> {
        if operation.charges().next().is_none() {
            return Ok(Ok(Decision::exempt(self.shared.clock.now())));
        }
        let operation = match (&self.shared.denied, operation) {
            (Some(denied), Operation::Acquire(charges)) => match denied.repeat(charges) {
                Ok(decision) => return Ok(Ok(decision)),
                Err(charges) => Operation::Acquire(charges),
            },
            (_, operation) => operation,
        };
        if Handle::try_current().is_err() {
            return Ok(Err(StoreError::NoRuntime));
        }
        Err(operation)
    }

    fn send(&self, operation: Operation) -> Awaited {
        let until = Instant::now() + self.shared.deadline;
        match self.shared.slot_of_all(&operation) {
            Some(slot) => send::submit(&self.shared, slot, operation, until),
            None => spread::submit(&self.shared, operation, until),
        }
    }
}

impl Future for RedisDecision {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        if let Some(operation) = self.operation.take() {
            match self.known(operation) {
                Ok(answer) => return Poll::Ready(answer),
                Err(operation) => self.awaited = Some((StoreCallTimer::start(), self.send(operation))),
            }
        }
        let awaited = self.awaited.as_mut();
        let (_, awaited) = awaited.expect("polled after completion");
        let answer = ready!(Pin::new(awaited).poll(context));
        if let Some((stopwatch, _)) = self.awaited.take() {
            stopwatch.stop(match &answer {
                Ok(_) => Some(StoreCallOutcome::Answered),
                Err(StoreError::CircuitOpen { .. }) => None,
                Err(_) => Some(StoreCallOutcome::Failed),
            });
        }
        Poll::Ready(answer)
    }
}

impl fmt::Debug for RedisDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisDecision").finish_non_exhaustive()
    }
}
