//! The queue of requests that wait to be sent, and the calls in flight.
//!
//! While no call is in flight, a request is sent at once. While as many calls are in flight as [`FlowControl`] permits, new requests
//! are queued, and all of them are sent as one batch when a call returns. So batches grow with the load on Redis, and no request waits
//! for others to arrive.
//!
//! A request that finds no call in flight is sent inline: its own task polls the call, which saves two task switches. No other request
//! waits for an inline call, since its task may be busy with other work; later requests are sent by spawned sender tasks. A sender task
//! sends only requests of its own runtime: a runtime that is not running polls neither.
//!
//! Acquires that cannot be answered before their deadlines are shed before they are sent. When the oldest ones have waited for so long
//! that they are likely to expire, the newest are sent first: otherwise every batch would consist of requests that expire before the
//! reply. Refunds, settles and resets are never shed, and are sent first.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    runtime::{self, Handle},
    time::Instant,
};

use super::{flow_control::FlowControl, overload::Overload};
use crate::store::redis::{batch::Request, error::StoreError};

/// Queued requests, and calls in flight.
pub(super) struct Queue {
    timeout: Duration,
    overload: Arc<Overload>,
    state: Mutex<QueueState>,
}

struct QueueState {
    /// The runtimes with queued requests: usually one.
    runtimes: Vec<RuntimeQueue>,
    calls: Vec<CallInFlight>,
    next_id: u64,
    flow: FlowControl,
    timeout: Duration,
    /// When lost calls were last removed.
    pruned: Instant,
}

/// The queued requests of one runtime, each in the order of arrival.
struct RuntimeQueue {
    runtime: runtime::Id,
    /// Acquires and peeks.
    acquires: VecDeque<Request>,
    /// Refunds, settles and resets.
    corrections: VecDeque<Request>,
    /// The sender task that will take the next batch: it was just spawned, or it waits until it may start a call.
    next_sender: Option<CallId>,
}

struct CallInFlight {
    id: CallId,
    started: Instant,
    weight: usize,
    /// The weight of all calls in flight when it was started, including its own.
    in_flight: usize,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) struct CallId {
    number: u64,
    /// The runtime of the sender task; `None` for an inline call.
    sender: Option<runtime::Id>,
}

/// How an enqueued request is sent.
pub(super) enum Enqueued {
    /// At once, by an inline call.
    SendInline(CallId, Box<Request>),
    /// By a new sender task, which the caller has to spawn.
    SpawnSender(CallId),
    /// By a running sender task.
    Queued,
}

/// What a sender task does next.
pub(super) enum Next {
    /// Sends a batch, after spawning a sender task for the requests that are left.
    Send {
        batch: Vec<Request>,
        spawn: Option<CallId>,
    },
    WaitUntil(Instant),
    /// Ends: the queue is empty, or other sender tasks suffice.
    End,
}

impl Queue {
    pub(super) fn new(timeout: Duration, max_calls: Option<usize>, overload: &Arc<Overload>) -> Self {
        let now = Instant::now();
        Self {
            timeout,
            overload: Arc::clone(overload),
            state: Mutex::new(QueueState {
                runtimes: Vec::new(),
                calls: Vec::new(),
                next_id: 0,
                flow: FlowControl::new(timeout, max_calls, now),
                timeout,
                pruned: now,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error of a queued request whose deadline has passed. If it was not sent though Redis replies to others, Redis cannot keep
    /// up.
    pub(super) fn expired(&self, sent: bool) -> StoreError {
        let now = Instant::now();
        if sent || !self.state().flow.is_replying(now) {
            return StoreError::timeout(self.overload.address(), self.timeout, sent);
        }
        self.overload.record_shed(1, now);
        StoreError::overloaded(self.overload.address(), self.timeout)
    }

    pub(super) fn push(&self, request: Request, now: Instant) -> Enqueued {
        let mut state = self.state();
        state.prune(now);
        if state.calls.is_empty() && state.runtimes.is_empty() {
            let id = state.new_id(None);
            state.start(id, request.weight(), now);
            return Enqueued::SendInline(id, Box::new(request));
        }
        let runtime = Handle::current().id();
        let index = state.enqueue(runtime, request);
        match state.new_sender(index, now) {
            Some(id) => Enqueued::SpawnSender(id),
            None => Enqueued::Queued,
        }
    }

    /// What a sender task does next, after the end of its last call.
    pub(super) fn next(&self, id: CallId, now: Instant) -> Next {
        let mut state = self.state();
        state.calls.retain(|call| call.id != id);
        let Some(index) = state.runtimes.iter().position(|queue| Some(queue.runtime) == id.sender) else {
            return Next::End;
        };
        let RuntimeQueue { next_sender, .. } = &mut state.runtimes[index];
        *next_sender = next_sender.filter(|next| *next != id);
        let shed = state.shed(index, now);
        let next = state.next(index, id, now);
        drop(state);
        if !shed.is_empty() {
            self.overload.record_shed(shed.len(), now);
        }
        for mut request in shed {
            request.respond(Err(StoreError::overloaded(self.overload.address(), self.timeout)));
        }
        next
    }

    /// Records a call by its round trip, or the time at which it was sent if there was no reply; `None` if it was not sent. `late` of
    /// its requests have expired meanwhile.
    pub(super) fn record(&self, id: CallId, round_trip: Option<Result<Duration, Instant>>, late: usize, now: Instant) {
        if late > 0 && matches!(round_trip, Some(Ok(_))) {
            self.overload.record_late(late, now);
        }
        let QueueState { calls, flow, .. } = &mut *self.state();
        let Some(call) = calls.iter_mut().find(|call| call.id == id) else {
            return;
        };
        let weight = std::mem::take(&mut call.weight);
        match round_trip {
            Some(Ok(round_trip)) => flow.on_reply(round_trip, weight, call.in_flight, now),
            Some(Err(sent)) => flow.on_silence(sent, now),
            None => {}
        }
    }

    /// Removes a call or a sender task that has ended, or was dropped with its runtime. Returns the queued requests of its runtime if
    /// no sender task is left for them.
    pub(super) fn end(&self, id: CallId) -> Vec<Request> {
        let mut state = self.state();
        state.calls.retain(|call| call.id != id);
        let Some(index) = state.runtimes.iter().position(|queue| Some(queue.runtime) == id.sender) else {
            return Vec::new();
        };
        let RuntimeQueue { next_sender, .. } = &mut state.runtimes[index];
        *next_sender = next_sender.filter(|next| *next != id);
        match next_sender.is_some() || state.has_sender(index) {
            true => Vec::new(),
            false => state.runtimes.swap_remove(index).into_requests(),
        }
    }
}

impl QueueState {
    /// The weight of the calls in flight.
    fn weight(&self) -> usize {
        self.calls.iter().map(|call| call.weight).sum()
    }

    fn new_id(&mut self, sender: Option<runtime::Id>) -> CallId {
        self.next_id += 1;
        let number = self.next_id;
        CallId { number, sender }
    }

    fn start(&mut self, id: CallId, weight: usize, started: Instant) {
        let in_flight = self.weight() + weight;
        self.flow.on_start(started);
        self.calls.push(CallInFlight {
            id,
            started,
            weight,
            in_flight,
        });
    }

    /// Adds a request to the queue of its runtime, and returns the index of the latter.
    fn enqueue(&mut self, runtime: runtime::Id, request: Request) -> usize {
        let existing = self.runtimes.iter().position(|queue| queue.runtime == runtime);
        let index = existing.unwrap_or_else(|| {
            self.runtimes.push(RuntimeQueue::new(runtime));
            self.runtimes.len() - 1
        });
        self.runtimes[index].push(request);
        index
    }

    /// Whether a call in flight belongs to a sender task of this runtime.
    fn has_sender(&self, index: usize) -> bool {
        let runtime = self.runtimes[index].runtime;
        self.calls.iter().any(|call| call.id.sender == Some(runtime))
    }

    /// When a call may be started for the queued requests of a runtime. `None` if one of its sender tasks has to return before.
    fn next_start(&self, index: usize, now: Instant) -> Option<Instant> {
        match self.has_sender(index) {
            true => {
                let queue = &self.runtimes[index];
                let is_queued = |weight| queue.has_weight(weight);
                self.flow.next_start(self.calls.len(), self.weight(), is_queued, now)
            }
            false => Some(now),
        }
    }

    /// The id of a sender task to spawn for the queued requests of a runtime, if they need one.
    fn new_sender(&mut self, index: usize, now: Instant) -> Option<CallId> {
        let RuntimeQueue {
            runtime, next_sender, ..
        } = self.runtimes[index];
        if next_sender.is_some() || self.next_start(index, now).is_none() {
            return None;
        }
        let id = self.new_id(Some(runtime));
        self.runtimes[index].next_sender = Some(id);
        Some(id)
    }

    /// Removes calls that are lost: a call ends one timeout after the deadlines of its requests at the latest, unless its runtime is
    /// not running.
    fn prune(&mut self, now: Instant) {
        if now.duration_since(self.pruned) >= self.timeout {
            self.pruned = now;
            let lost_after = 3 * self.timeout;
            self.calls.retain(|call| now.duration_since(call.started) < lost_after);
        }
    }

    fn shed(&mut self, index: usize, now: Instant) -> Vec<Request> {
        let needed_time = self.flow.needed_time(now);
        self.runtimes[index].shed(needed_time, now)
    }

    fn next(&mut self, index: usize, id: CallId, now: Instant) -> Next {
        if self.runtimes[index].is_empty() {
            self.runtimes.swap_remove(index);
            return Next::End;
        }
        match self.next_start(index, now) {
            Some(at) if at <= now => {}
            Some(at) if self.runtimes[index].next_sender.is_none() => {
                self.runtimes[index].next_sender = Some(id);
                return Next::WaitUntil(at);
            }
            _ => return Next::End,
        }
        let in_flight = self.weight();
        let batch = self.runtimes[index].take(&self.flow, in_flight, now);
        self.start(id, batch.iter().map(Request::weight).sum(), now);
        let spawn = match self.runtimes[index].is_empty() {
            true => None,
            false => self.new_sender(index, now),
        };
        Next::Send { batch, spawn }
    }
}

impl RuntimeQueue {
    fn new(runtime: runtime::Id) -> Self {
        Self {
            runtime,
            acquires: VecDeque::new(),
            corrections: VecDeque::new(),
            next_sender: None,
        }
    }

    fn into_requests(self) -> Vec<Request> {
        self.corrections.into_iter().chain(self.acquires).collect()
    }

    fn is_empty(&self) -> bool {
        self.acquires.is_empty() && self.corrections.is_empty()
    }

    /// Whether the queued requests have at least this weight.
    fn has_weight(&self, weight: usize) -> bool {
        let requests = self.corrections.iter().chain(&self.acquires);
        let mut left = weight;
        requests.map(Request::weight).any(|weight| {
            left = left.saturating_sub(weight);
            left == 0
        })
    }

    fn push(&mut self, request: Request) {
        match request.is_correction() {
            false => self.acquires.push_back(request),
            true => self.corrections.push_back(request),
        }
    }

    /// Removes requests that are cancelled, or cannot be answered in time, from the front of the queue; returns the latter. Requests
    /// are queued in the order of their deadlines.
    fn shed(&mut self, needed_time: Duration, now: Instant) -> Vec<Request> {
        let mut shed = Vec::new();
        while let Some(oldest) = self.acquires.front() {
            let is_late = oldest.deadline <= now + needed_time;
            if !is_late && oldest.is_awaited() {
                break;
            }
            shed.extend(self.acquires.pop_front().filter(Request::is_awaited));
        }
        shed
    }

    /// Takes requests that fit in a batch, at least one: corrections, and the oldest acquires, or the newest if the oldest are likely to
    /// expire.
    fn take(&mut self, flow: &FlowControl, in_flight: usize, now: Instant) -> Vec<Request> {
        let max_weight = flow.max_batch_weight(in_flight);
        let mut weight = 0;
        let mut fits = |request: &Request| {
            let is_first = weight == 0;
            weight += request.weight();
            is_first || weight <= max_weight
        };
        let corrections = self.corrections.iter().take_while(|request| fits(request)).count();
        let mut requests: Vec<Request> = self.corrections.drain(..corrections).collect();
        for correction in &mut requests {
            // A caller that waits no longer does not prevent the correction.
            correction.deadline = now + flow.timeout();
        }
        if !self.corrections.is_empty() {
            return requests;
        }
        let time_left = self.acquires.front().map(|oldest| oldest.deadline - now);
        if time_left.is_some_and(|time_left| flow.is_hopeless(time_left, now)) {
            let newest = self.acquires.iter().rev().take_while(|request| fits(request)).count();
            requests.extend(self.acquires.drain(self.acquires.len() - newest..));
        } else {
            let oldest = self.acquires.iter().take_while(|request| fits(request)).count();
            requests.extend(self.acquires.drain(..oldest));
        }
        requests
    }
}
