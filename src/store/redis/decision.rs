//! The future of a decision, and the client that all clones of a store share.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::runtime::Handle;

use super::{
    batcher::{Answer, Batcher, PendingResponse},
    error::StoreError,
};
use crate::{
    clock::Clock,
    decision::Decision,
    metrics::{StoreCallOutcome, StoreCallTimer},
    operation::Operation,
};

/// What the clones of a store share.
pub(super) struct Client {
    pub(super) batcher: Arc<Batcher>,
    pub(super) clock: Clock,
}

/// The future of a [`RedisStore`](crate::RedisStore)'s decision. It sends nothing before it is first polled.
#[must_use = "futures do nothing unless polled"]
pub struct RedisDecision {
    client: Arc<Client>,
    /// `None` after the first poll.
    operation: Option<Operation>,
    pending: Option<(StoreCallTimer, PendingResponse)>,
}

impl RedisDecision {
    pub(super) fn new(client: Arc<Client>, operation: Operation) -> Self {
        Self {
            client,
            operation: Some(operation),
            pending: None,
        }
    }

    /// The answer if Redis is not needed for it, or the operation.
    fn local_answer(&self, operation: Operation) -> Result<Answer, Operation> {
        if operation.charges().next().is_none() {
            return Ok(Ok(Decision::exempt(self.client.clock.now())));
        }
        let operation = match operation {
            Operation::Acquire(charges) => match self.client.batcher.cached_denial(charges) {
                Ok(decision) => return Ok(Ok(decision)),
                Err(charges) => Operation::Acquire(charges),
            },
            operation => operation,
        };
        if Handle::try_current().is_err() {
            return Ok(Err(StoreError::NoRuntime));
        }
        Err(operation)
    }
}

impl Future for RedisDecision {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        if let Some(operation) = self.operation.take() {
            match self.local_answer(operation) {
                Ok(answer) => return Poll::Ready(answer),
                Err(operation) => {
                    let timer = StoreCallTimer::start();
                    self.pending = Some((timer, self.client.batcher.submit(operation)));
                }
            }
        }
        let pending = self.pending.as_mut();
        let (_, pending) = pending.expect("polled after completion");
        let answer = ready!(Pin::new(pending).poll(context));
        if let Some((timer, _)) = self.pending.take() {
            timer.stop(match &answer {
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
