//! The batcher: queues requests while calls are in flight, and sends them in batches.
//!
//! There are at most as many sender tasks as connections to a node, so that Redis receives the next batch while it executes one. A
//! sender task ends when the queue is empty, and the next request starts another one: no task outlives its work, so a store outlives
//! the runtimes that it is used on.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::{sync::oneshot, time::Instant};

use super::{
    pending_response::{InlineCall, PendingResponse},
    queue::{Enqueued, Queue},
};
use crate::{
    charge::Charges,
    decision::Decision,
    operation::Operation,
    store::redis::{
        batch::{Batch, Request, Response},
        denial_cache::DenialCache,
        error::StoreError,
        router::{Router, Slot},
    },
};

pub(crate) struct Batcher {
    router: Arc<Router>,
    /// A queue per slot, created on first use: all keys of a call are in one slot.
    queues: Box<[OnceLock<Box<Queue>>]>,
    /// The maximal number of sender tasks per queue.
    max_senders: usize,
    /// `None` if denials are not cached, as with a clock other than that of Redis.
    denial_cache: Option<Arc<DenialCache>>,
    timeout: Duration,
}

impl Batcher {
    pub(crate) fn new(
        router: Arc<Router>,
        max_senders: usize,
        denial_cache: Option<DenialCache>,
        timeout: Duration,
    ) -> Self {
        let slots = if router.topology.is_cluster() {
            Slot::all().count()
        } else {
            1
        };
        Self {
            router,
            queues: (0..slots).map(|_| OnceLock::new()).collect(),
            max_senders,
            denial_cache: denial_cache.map(Arc::new),
            timeout,
        }
    }

    /// The time from the submission of a request to its deadline.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The cached denial of these charges, or the charges if there is none.
    pub(crate) fn cached_denial(&self, charges: Charges) -> Result<Decision, Charges> {
        match &self.denial_cache {
            Some(cache) => cache.get(charges),
            None => Err(charges),
        }
    }

    /// Submits an operation: as one request, or as one per slot of a cluster.
    pub(crate) fn submit(self: &Arc<Self>, operation: Operation) -> PendingResponse {
        let deadline = Instant::now() + self.timeout;
        match self.router.common_slot(&operation) {
            Some(slot) => self.enqueue(slot, Request::new(operation, deadline)),
            None => {
                let (sender, receiver) = oneshot::channel();
                let call = Arc::clone(self).scatter(operation, deadline, sender);
                PendingResponse::new(self.router.topology.address(), Some(Box::pin(call)), receiver)
            }
        }
    }

    fn queue(&self, slot: Slot) -> &Queue {
        self.queues[slot.index()].get_or_init(Box::default)
    }

    fn batch(&self, requests: Vec<Request>) -> Batch {
        let address = self.router.topology.address();
        Batch::new(requests, address, self.timeout, self.denial_cache.clone())
    }

    /// Enqueues a request. It is sent inline if no call is in flight, otherwise by a sender task.
    fn enqueue(
        self: &Arc<Self>,
        slot: Slot,
        (request, response): (Request, oneshot::Receiver<Response>),
    ) -> PendingResponse {
        let call: Option<InlineCall> = match self.queue(slot).push(request, self.max_senders) {
            Enqueued::SendInline(request) => {
                let guard = InlineGuard(Arc::clone(self), slot);
                Some(Box::pin(async move {
                    let InlineGuard(batcher, slot) = &guard;
                    batcher.router.route(*slot, batcher.batch(vec![*request])).await;
                }))
            }
            Enqueued::SpawnSender => {
                let (batcher, is_done) = (Arc::clone(self), false);
                let sender = Sender { batcher, slot, is_done };
                tokio::spawn(sender.run());
                None
            }
            Enqueued::Queued => None,
        };
        PendingResponse::new(self.router.topology.address(), call, response)
    }

    /// Applies an operation in one part per slot. It is completed even if the request is cancelled, since charges may have to be
    /// refunded.
    async fn scatter(self: Arc<Self>, operation: Operation, deadline: Instant, response: oneshot::Sender<Response>) {
        let sent = Instant::now();
        let (acquires, may_refund) = (matches!(operation, Operation::Acquire(_)), operation.may_refund());
        let submit = |slot, operation, deadline| self.enqueue(slot, Request::part(operation, deadline));
        let (merged, late_refunds) = self.router.scatter(operation, deadline, &submit).await;
        if let Some(cache) = &self.denial_cache {
            match &merged {
                Ok(decision) if acquires => cache.insert(decision, sent, Instant::now()),
                _ if may_refund => cache.clear(Instant::now()),
                _ => {}
            }
        }
        _ = response.send(merged);
        if let Some(late_refunds) = late_refunds {
            late_refunds.await;
        }
    }
}

struct InlineGuard(Arc<Batcher>, Slot);

/// However an inline call ends, the next request may be sent inline.
impl Drop for InlineGuard {
    fn drop(&mut self) {
        self.0.queue(self.1).end_inline();
    }
}

/// A task that sends queued requests until the queue is empty.
struct Sender {
    batcher: Arc<Batcher>,
    slot: Slot,
    is_done: bool,
}

impl Sender {
    async fn run(mut self) {
        let batcher = &self.batcher;
        while let Some(requests) = batcher.queue(self.slot).take() {
            batcher.router.route(self.slot, batcher.batch(requests)).await;
            // Clients that were just answered may send their next request: this makes for fewer and larger batches.
            tokio::task::yield_now().await;
        }
        self.is_done = true;
    }
}

/// A runtime that shuts down drops its tasks at any await point.
impl Drop for Sender {
    fn drop(&mut self) {
        if !self.is_done {
            let ended = RedisError::from((ErrorKind::Io, "the runtime has ended"));
            let ended = StoreError::before_sending(self.batcher.router.topology.address(), ended);
            for mut request in self.batcher.queue(self.slot).retire_sender() {
                request.respond(Err(ended.clone()));
            }
        }
    }
}
