//! The batcher: sender tasks that send queued requests in batches until the queue is empty.
//!
//! There are at most as many sender tasks as connections to a node, so that Redis receives the next batch while it executes
//! one. A sender task ends when the queue is empty, and the next request starts another one: no task outlives its work, so a
//! store outlives the runtimes that it is used on.

use std::sync::Arc;

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::time::Instant;

use super::{
    awaited::{Awaited, Led},
    batch::Batch,
    journey,
    queue::{Request, Turn},
    shared::Shared,
};
use crate::{
    operation::Operation,
    store::redis::{error::StoreError, servers::Slot},
};

/// Submits an operation whose keys are all in one slot.
pub(crate) fn submit(shared: &Arc<Shared>, slot: Slot, operation: Operation, until: Instant) -> Awaited {
    let (request, answer) = Request::new(operation, until);
    Awaited::new(shared, push(shared, slot, request), answer)
}

/// Submits the part of an operation whose keys are in one slot, if others are not.
pub(crate) fn submit_part(shared: &Arc<Shared>, slot: Slot, operation: Operation, until: Instant) -> Awaited {
    let (request, answer) = Request::part(operation, until);
    Awaited::new(shared, push(shared, slot, request), answer)
}

/// Enqueues a request. Returns its call if it is sent inline, and spawns a sender task if one is needed.
fn push(shared: &Arc<Shared>, slot: Slot, request: Request) -> Option<Led> {
    match shared.queues.of(slot).push(request, shared.lanes) {
        Turn::Lead(request) => {
            let leader = Leader(Arc::clone(shared), slot);
            return Some(Box::pin(lead(leader, *request)));
        }
        Turn::Send => {
            let sender = Sender {
                shared: Arc::clone(shared),
                slot,
                done: false,
            };
            tokio::spawn(sender.run());
        }
        Turn::Wait => {}
    }
    None
}

async fn lead(leader: Leader, request: Request) {
    let Leader(shared, slot) = &leader;
    let batch = Batch::new(vec![request], shared.servers.address(), shared.deadline);
    journey::send(shared, *slot, batch).await;
}

struct Leader(Arc<Shared>, Slot);

/// However an inline call ends, the next request may be sent inline.
impl Drop for Leader {
    fn drop(&mut self) {
        self.0.queues.of(self.1).followed();
    }
}

struct Sender {
    shared: Arc<Shared>,
    slot: Slot,
    done: bool,
}

impl Sender {
    async fn run(mut self) {
        let shared = &self.shared;
        while let Some(requests) = shared.queues.of(self.slot).take() {
            let batch = Batch::new(requests, shared.servers.address(), shared.deadline);
            journey::send(shared, self.slot, batch).await;
            // Clients that were just answered may send their next request: this makes for fewer and larger batches.
            tokio::task::yield_now().await;
        }
        self.done = true;
    }
}

/// A runtime that shuts down drops its tasks at any await point.
impl Drop for Sender {
    fn drop(&mut self) {
        if !self.done {
            let ended = RedisError::from((ErrorKind::Io, "the runtime has ended"));
            let ended = StoreError::before_sending(self.shared.servers.address(), ended);
            for mut request in self.shared.queues.of(self.slot).abandon() {
                request.answer(Err(ended.clone()));
            }
        }
    }
}
