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

use crate::store::redis::batch::Request;

/// The maximal weight of a batch, during which Redis serves no other client. A charge weighs 1, and takes a few microseconds.
const MAX_BATCH_WEIGHT: usize = 128;

/// Queued requests, and the number of senders.
#[derive(Default)]
pub(crate) struct Queue(Mutex<QueueState>);

#[derive(Default)]
struct QueueState {
    requests: VecDeque<Request>,
    /// Whether an inline call is in flight.
    inline_active: bool,
    /// The number of sender tasks.
    senders: usize,
}

/// How an enqueued request is sent.
pub(crate) enum Enqueued {
    /// At once, by an inline call.
    SendInline(Box<Request>),
    /// By a new sender task, which the caller has to spawn.
    SpawnSender,
    /// By a running sender task.
    Queued,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues a request, for at most `max_senders` sender tasks.
    pub(crate) fn push(&self, request: Request, max_senders: usize) -> Enqueued {
        let mut state = self.state();
        if !state.inline_active && state.senders == 0 {
            state.inline_active = true;
            return Enqueued::SendInline(Box::new(request));
        }
        state.requests.push_back(request);
        if state.senders < max_senders {
            state.senders += 1;
            return Enqueued::SpawnSender;
        }
        Enqueued::Queued
    }

    /// Ends the inline call.
    pub(crate) fn end_inline(&self) {
        self.state().inline_active = false;
    }

    /// Takes the oldest requests that fit in a batch. `None` if the queue is empty: the calling sender task has to end.
    pub(crate) fn take(&self) -> Option<Vec<Request>> {
        let mut state = self.state();
        let mut weight = 0;
        let mut fits = |request: &Request| {
            let is_first = weight == 0;
            weight += request.weight();
            is_first || weight <= MAX_BATCH_WEIGHT
        };
        let count = state.requests.iter().take_while(|request| fits(request)).count();
        if count == 0 {
            state.senders -= 1;
            return None;
        }
        Some(state.requests.drain(..count).collect())
    }

    /// Retires a sender task that was dropped early. Returns the queued requests if it was the last sender.
    pub(crate) fn retire_sender(&self) -> VecDeque<Request> {
        let mut state = self.state();
        state.senders -= 1;
        match state.senders {
            0 => std::mem::take(&mut state.requests),
            _ => VecDeque::new(),
        }
    }
}
