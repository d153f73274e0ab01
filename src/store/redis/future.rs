//! The decision to come.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::{runtime::Handle, sync::oneshot};

use super::{
    Shared,
    error::StoreError,
    queue::{Answer, Request},
    send::{self, Led},
};
use crate::{decision::Decision, operation::Operation};

/// The future of a [`RedisStore`](crate::RedisStore)'s decision. Nothing is sent before it is first polled.
#[must_use = "futures do nothing unless polled"]
pub struct RedisDecision {
    shared: Arc<Shared>,
    question: Option<Operation>,
    /// The call, if it is this request's to see to.
    led: Option<Led>,
    answer: Option<oneshot::Receiver<Answer>>,
}

impl RedisDecision {
    pub(super) fn new(shared: Arc<Shared>, operation: Operation) -> Self {
        Self {
            shared,
            question: Some(operation),
            led: None,
            answer: None,
        }
    }

    /// What can be said without asking Redis, or the operation again.
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
            let nowhere = io("there is no tokio runtime here");
            return Ok(Err(StoreError::before_sending(self.shared.lanes.address(), nowhere)));
        }
        Err(operation)
    }
}

impl Future for RedisDecision {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        if let Some(operation) = self.question.take() {
            let operation = match self.known(operation) {
                Ok(answer) => return Poll::Ready(answer),
                Err(operation) => operation,
            };
            let (request, answer) = Request::new(operation, self.shared.deadline);
            self.led = send::submit(&self.shared, request);
            self.answer = Some(answer);
        }
        if let Some(led) = &mut self.led
            && led.as_mut().poll(context).is_ready()
        {
            self.led = None;
        }
        let answer = self
            .answer
            .as_mut()
            .expect("a future is not polled again after it is ready");
        let answer = ready!(Pin::new(answer).poll(context));
        self.answer = None;
        let ended = |_| {
            Err(StoreError::after_sending(
                self.shared.lanes.address(),
                io("the runtime has ended"),
            ))
        };
        Poll::Ready(answer.unwrap_or_else(ended))
    }
}

/// A call that has been sent is seen through: its answer tells whether the connection is any good.
impl Drop for RedisDecision {
    fn drop(&mut self) {
        if let (Some(led), Ok(runtime)) = (self.led.take(), Handle::try_current()) {
            runtime.spawn(led);
        }
    }
}

fn io(what: &'static str) -> RedisError {
    RedisError::from((ErrorKind::Io, what))
}

impl fmt::Debug for RedisDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisDecision").finish_non_exhaustive()
    }
}
