//! The queue of requests that wait to be sent.
//!
//! While no call is in flight, a request is sent at once. While calls are in flight, new requests are queued, and all of them
//! are sent as one batch when a call returns. So batches grow with the load on Redis, and no request waits for others to
//! arrive.
//!
//! A request that finds no call in flight is sent inline: its own task polls the call, which saves two task switches. No other
//! request waits for an inline call, since its task may be busy with other work; later requests are sent by spawned sender
//! tasks.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::oneshot, time::Instant};

use crate::{
    algorithm::AnyAlgorithm, charge::Charge, decision::Decision, operation::Operation, store::redis::error::StoreError,
};

/// The maximal weight of a batch, during which Redis serves no other client. A charge weighs 1, and takes a few microseconds.
const MAX_BATCH_WEIGHT: usize = 128;

/// The number of log entries that weigh as much as a charge.
const LOG_ENTRIES_PER_CHARGE: usize = 64;

pub(crate) type Answer = Result<Decision, StoreError>;

/// An operation, its deadline, and the channel for its answer.
pub(crate) struct Request {
    pub(crate) operation: Operation,
    pub(crate) until: Instant,
    /// Whether it contains only some of a request's tiers.
    pub(crate) is_part: bool,
    answer: Option<oneshot::Sender<Answer>>,
}

impl Request {
    pub(crate) fn new(operation: Operation, until: Instant) -> (Self, oneshot::Receiver<Answer>) {
        let (answer, awaited) = oneshot::channel();
        let request = Self {
            operation,
            until,
            is_part: false,
            answer: Some(answer),
        };
        (request, awaited)
    }

    pub(crate) fn part(operation: Operation, until: Instant) -> (Self, oneshot::Receiver<Answer>) {
        let (request, awaited) = Self::new(operation, until);
        let is_part = true;
        (Self { is_part, ..request }, awaited)
    }

    /// Sends the answer, unless one was sent. The receiver may have been dropped.
    pub(crate) fn answer(&mut self, answer: Answer) {
        if let Some(awaited) = self.answer.take() {
            _ = awaited.send(answer);
        }
    }

    pub(crate) fn is_unanswered(&self) -> bool {
        self.answer.is_some()
    }

    /// Whether it is unanswered and its receiver has not been dropped.
    pub(crate) fn is_awaited(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| !answer.is_closed())
    }

    fn work(&self) -> usize {
        let work = |charge: &Charge| match charge.limit.algorithm() {
            AnyAlgorithm::SlidingLog(_) => 1 + charge.cost as usize / LOG_ENTRIES_PER_CHARGE,
            _ => 1,
        };
        self.operation.charges().map(work).sum()
    }
}

/// Queued requests, and the number of senders.
#[derive(Default)]
pub(crate) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    requests: VecDeque<Request>,
    /// Whether an inline call is in flight.
    led: bool,
    /// The number of sender tasks.
    senders: usize,
}

/// How an enqueued request is sent.
pub(crate) enum Turn {
    /// At once, by an inline call.
    Lead(Box<Request>),
    /// By a new sender task, which the caller has to spawn.
    Send,
    /// By a running sender task.
    Wait,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a request, for at most `max_senders` sender tasks.
    pub(crate) fn push(&self, request: Request, max_senders: usize) -> Turn {
        let mut waiting = self.waiting();
        if !waiting.led && waiting.senders == 0 {
            waiting.led = true;
            return Turn::Lead(Box::new(request));
        }
        waiting.requests.push_back(request);
        if waiting.senders < max_senders {
            waiting.senders += 1;
            return Turn::Send;
        }
        Turn::Wait
    }

    /// Ends the inline call.
    pub(crate) fn followed(&self) {
        self.waiting().led = false;
    }

    /// Takes the oldest requests that fit in a batch. `None` if the queue is empty: the calling sender task has to end.
    pub(crate) fn take(&self) -> Option<Vec<Request>> {
        let mut waiting = self.waiting();
        let mut work = 0;
        let mut fits = |request: &Request| {
            let is_first = work == 0;
            work += request.work();
            is_first || work <= MAX_BATCH_WEIGHT
        };
        let count = waiting.requests.iter().take_while(|request| fits(request)).count();
        if count == 0 {
            waiting.senders -= 1;
            return None;
        }
        Some(waiting.requests.drain(..count).collect())
    }

    /// Removes a sender task that was dropped early. Returns the queued requests if it was the last sender.
    pub(crate) fn abandon(&self) -> VecDeque<Request> {
        let mut waiting = self.waiting();
        waiting.senders -= 1;
        match waiting.senders {
            0 => std::mem::take(&mut waiting.requests),
            _ => VecDeque::new(),
        }
    }
}
