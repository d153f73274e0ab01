//! Requests that wait to be sent.
//!
//! While nothing is in flight, a request leaves at once. While calls are, those that arrive wait here, and all of them
//! leave together when a call returns. So batches are as large as Redis is busy, and nobody waits for company.
//!
//! A request that finds nothing in flight leads: it sees to its own call, which spares it two changes of tasks. Nobody
//! else ever waits for it to do so, since its task may have other things to do; whoever comes next is sent by a task of
//! the store's own.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::oneshot, time::Instant};

use crate::{
    algorithm::Rule, charge::Charge, decision::Decision, operation::Operation, store::redis::error::StoreError,
};

/// The most work in a batch: Redis serves nobody else meanwhile. A charge is one, which takes it some microseconds.
const MOST: usize = 128;

/// How many entries in a log are as much work as a charge.
const ENTRIES: usize = 64;

pub(crate) type Answer = Result<Decision, StoreError>;

/// An operation, until when it may take, and where its answer is awaited.
pub(crate) struct Request {
    pub(crate) operation: Operation,
    pub(crate) until: Instant,
    /// Whether it is about some of a request's tiers only.
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

    /// Answers, unless that has been done. Whoever asked may have left.
    pub(crate) fn answer(&mut self, answer: Answer) {
        if let Some(awaited) = self.answer.take() {
            _ = awaited.send(answer);
        }
    }

    pub(crate) fn is_unanswered(&self) -> bool {
        self.answer.is_some()
    }

    /// Whether it has not been answered and somebody is there to hear it.
    pub(crate) fn is_awaited(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| !answer.is_closed())
    }

    fn work(&self) -> usize {
        let work = |charge: &Charge| match charge.limit.rule() {
            Rule::SlidingLog(_) => 1 + charge.cost as usize / ENTRIES,
            _ => 1,
        };
        self.operation.charges().map(work).sum()
    }
}

/// What waits, and who sends it.
#[derive(Default)]
pub(crate) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    requests: VecDeque<Request>,
    /// Whether a request that found nothing in flight is seeing to its own call.
    led: bool,
    /// How many tasks take turns in sending what waits.
    senders: usize,
}

/// What is to be done about a request.
pub(crate) enum Turn {
    /// It leaves at once, and whoever asked sees to it.
    Lead(Box<Request>),
    /// One more task is needed to send what waits.
    Send,
    /// It will be sent.
    Wait,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a request in. At most `most` tasks take turns in sending.
    pub(crate) fn push(&self, request: Request, most: usize) -> Turn {
        let mut waiting = self.waiting();
        if !waiting.led && waiting.senders == 0 {
            waiting.led = true;
            return Turn::Lead(Box::new(request));
        }
        waiting.requests.push_back(request);
        if waiting.senders < most {
            waiting.senders += 1;
            return Turn::Send;
        }
        Turn::Wait
    }

    /// The request that led has been answered, or has left its call to a task.
    pub(crate) fn followed(&self) {
        self.waiting().led = false;
    }

    /// As many of the oldest as make a batch. When there is none, the task that asks has to end.
    pub(crate) fn take(&self) -> Option<Vec<Request>> {
        let mut waiting = self.waiting();
        let mut work = 0;
        let mut fits = |request: &Request| {
            let is_first = work == 0;
            work += request.work();
            is_first || work <= MOST
        };
        let count = waiting.requests.iter().take_while(|request| fits(request)).count();
        if count == 0 {
            waiting.senders -= 1;
            return None;
        }
        Some(waiting.requests.drain(..count).collect())
    }

    /// A task has ended before its time. If it was the last, nobody is going to send what waits.
    pub(crate) fn abandon(&self) -> VecDeque<Request> {
        let mut waiting = self.waiting();
        waiting.senders -= 1;
        match waiting.senders {
            0 => std::mem::take(&mut waiting.requests),
            _ => VecDeque::new(),
        }
    }
}
