//! The future of a decision.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::runtime::Handle;

use super::{
    batcher::{PendingResponse, Response},
    error::StoreError,
    store::Inner,
};
use crate::{
    decision::Decision,
    metrics::{StoreCallOutcome, StoreCallTimer},
    operation::Operation,
};

/// The future of a [`RedisStore`](crate::RedisStore)'s decision. It sends nothing before it is first polled.
#[must_use = "futures do nothing unless polled"]
pub struct RedisDecision {
    store: Arc<Inner>,
    /// `None` after the first poll.
    operation: Option<Operation>,
    pending: Option<(StoreCallTimer, PendingResponse)>,
}

impl RedisDecision {
    pub(super) fn new(store: Arc<Inner>, operation: Operation) -> Self {
        Self {
            store,
            operation: Some(operation),
            pending: None,
        }
    }

    /// The response if Redis is not needed for it, or the operation.
    fn local_response(&self, operation: Operation) -> Result<Response, Operation> {
        if operation.charges().next().is_none() {
            return Ok(Ok(Decision::exempt(self.store.clock.now())));
        }
        let operation = match operation {
            Operation::Acquire(charges) => match self.store.batcher.cached_denial(charges) {
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
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        if let Some(operation) = self.operation.take() {
            match self.local_response(operation) {
                Ok(response) => return Poll::Ready(response),
                Err(operation) => {
                    let timer = StoreCallTimer::start();
                    self.pending = Some((timer, self.store.batcher.submit(operation)));
                }
            }
        }
        let pending = self.pending.as_mut();
        let (_, pending) = pending.expect("polled after completion");
        let response = ready!(Pin::new(pending).poll(context));
        if let Some((timer, _)) = self.pending.take() {
            timer.stop(match &response {
                Ok(_) => Some(StoreCallOutcome::Answered),
                Err(StoreError::CircuitOpen { .. }) => None,
                Err(_) => Some(StoreCallOutcome::Failed),
            });
        }
        Poll::Ready(response)
    }
}

impl fmt::Debug for RedisDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisDecision").finish_non_exhaustive()
    }
}
