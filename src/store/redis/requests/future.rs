//! The decision to come.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::{runtime::Handle, sync::oneshot, time::Instant};

use super::{
    queue::{Answer, Request},
    send::{self, Led},
    spread,
};
use crate::{
    decision::Decision,
    measure::{Stopwatch, Wait},
    operation::Operation,
    store::redis::{Shared, error::StoreError, servers::Slot},
};

/// The future of a [`RedisStore`](crate::RedisStore)'s decision. Nothing is sent before it is first polled.
#[must_use = "futures do nothing unless polled"]
pub struct RedisDecision {
    shared: Arc<Shared>,
    question: Option<Question>,
    /// The call, if it is this request's to see to.
    led: Option<Led>,
    answer: Option<oneshot::Receiver<Answer>>,
    /// How long it takes, if it is a whole request that waits.
    stopwatch: Option<Stopwatch>,
}

enum Question {
    Whole(Operation),
    /// One slot's part of a request, and until when it may take.
    Part(Operation, Slot, Instant),
}

impl RedisDecision {
    pub(crate) fn new(shared: Arc<Shared>, operation: Operation) -> Self {
        Self::asking(shared, Question::Whole(operation))
    }

    pub(crate) fn part(shared: Arc<Shared>, operation: Operation, slot: Slot, until: Instant) -> Self {
        Self::asking(shared, Question::Part(operation, slot, until))
    }

    fn asking(shared: Arc<Shared>, question: Question) -> Self {
        Self {
            shared,
            question: Some(question),
            led: None,
            answer: None,
            stopwatch: None,
        }
    }

    /// Sends the question off, unless the answer is known.
    fn ask(&mut self, question: Question) -> Option<Answer> {
        let (operation, slot, until, is_part) = match question {
            Question::Part(operation, slot, until) => (operation, Some(slot), until, true),
            Question::Whole(operation) => match self.known(operation) {
                Ok(answer) => return Some(answer),
                Err(operation) => {
                    self.stopwatch = Some(Stopwatch::start());
                    let slot = self.shared.slot_of_all(&operation);
                    (operation, slot, Instant::now() + self.shared.deadline, false)
                }
            },
        };
        let answer = match slot {
            Some(slot) => {
                let (request, answer) = Request::new(operation, until, is_part);
                self.led = send::submit(&self.shared, slot, request);
                answer
            }
            None => {
                let (sender, answer) = oneshot::channel();
                self.led = Some(Box::pin(spread::apply(
                    Arc::clone(&self.shared),
                    operation,
                    until,
                    sender,
                )));
                answer
            }
        };
        self.answer = Some(answer);
        None
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
            return Ok(Err(StoreError::before_sending(self.shared.servers.address(), nowhere)));
        }
        Err(operation)
    }
}

impl Future for RedisDecision {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Answer> {
        if let Some(question) = self.question.take()
            && let Some(answer) = self.ask(question)
        {
            return Poll::Ready(answer);
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
                self.shared.servers.address(),
                io("the runtime has ended"),
            ))
        };
        let answer = answer.unwrap_or_else(ended);
        if let Some(stopwatch) = self.stopwatch.take() {
            stopwatch.stop(match &answer {
                Ok(_) => Some(Wait::Answered),
                Err(StoreError::Down { .. }) => None,
                Err(_) => Some(Wait::Failed),
            });
        }
        Poll::Ready(answer)
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
