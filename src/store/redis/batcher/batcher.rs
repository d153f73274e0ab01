//! The batcher: queues requests while calls are in flight, and sends them in batches.
//!
//! A sender task ends when the queue is empty, and the next request starts another one: no task outlives its work, so a store outlives
//! the runtimes that it is used on.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{Instant, sleep_until, timeout},
};

use super::{
    overload::Overload,
    pending_response::{PartResponse, PendingResponse, QueuedRequest, Sending},
    queue::{CallId, Enqueued, Next, Queue},
};
use crate::{
    cancellation,
    charge::{Charge, Charges},
    decision::Decision,
    metrics::UnitOutcome,
    operation::Operation,
    receipt::{Charged, Receipt},
    store::redis::{
        batch::{Batch, Request, Response},
        denial_cache::DenialCache,
        error::StoreError,
        holder::{NodeHolder, SlotCall},
        leases::{LeaseAsk, Leases},
        router::{Router, Slot},
    },
};

pub(crate) struct Batcher {
    router: Arc<Router>,
    /// A queue per slot, created on first use: all keys of a call are in one slot.
    queues: Box<[OnceLock<Arc<Queue>>]>,
    /// The configured maximum of calls in flight per queue.
    max_calls: Option<usize>,
    pub(crate) overload: Arc<Overload>,
    /// `None` if denials are not cached, as with a clock other than that of Redis.
    denial_cache: Option<Arc<DenialCache>>,
    /// `None` with a clock other than that of Redis.
    leases: Option<Arc<Leases>>,
    /// What this node holds of concurrency limits.
    holder: Arc<NodeHolder>,
    timeout: Duration,
}

impl Batcher {
    pub(crate) fn new(
        router: Arc<Router>,
        max_calls: Option<usize>,
        denial_cache: Option<DenialCache>,
        leases: Option<Arc<Leases>>,
        holder: Arc<NodeHolder>,
        timeout: Duration,
    ) -> Self {
        let slots = if router.topology.is_cluster() {
            Slot::all().count()
        } else {
            1
        };
        Self {
            overload: Arc::new(Overload::new(router.topology.address())),
            router,
            queues: (0..slots).map(|_| OnceLock::new()).collect(),
            max_calls,
            denial_cache: denial_cache.map(Arc::new),
            leases,
            holder,
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

    /// Submits an operation: as one request, or as one per slot of a cluster. An acquire may ask for leases of its tiers in the same
    /// call, and of those that this node has decided about, which Redis charges if it admits the request.
    pub(crate) fn submit<'a>(
        self: &Arc<Self>,
        operation: Operation,
        decided: impl Iterator<Item = &'a Charge>,
    ) -> PendingResponse {
        let deadline = Instant::now() + self.timeout;
        match self.router.common_slot(&operation) {
            Some(slot) => {
                let mut asks = Vec::new();
                if let Operation::Acquire(charges) = &operation {
                    // Leases of other slots cannot be in the same call.
                    asks.extend(self.lease_asks(charges.iter(), Some(slot)));
                    asks.extend(self.lease_asks(decided, Some(slot)));
                }
                let (request, response) = Request::new(operation, deadline);
                self.enqueue(slot, (request.with_lease_asks(asks), response))
            }
            None => {
                let (sender, receiver) = oneshot::channel();
                let call = Arc::clone(self).scatter(operation, deadline, sender);
                PendingResponse::new(self.address(), receiver, Sending::Inline(Box::pin(call)), None)
            }
        }
    }

    /// The leases to ask for, of keys in this slot.
    fn lease_asks<'a>(self: &Arc<Self>, leased: impl Iterator<Item = &'a Charge>, slot: Option<Slot>) -> Vec<LeaseAsk> {
        let Some(leases) = &self.leases else {
            return Vec::new();
        };
        let is_in_slot = |charge: &Charge| slot.is_none_or(|slot| self.router.slot(charge) == slot);
        let leased = leased.filter(|charge| leases.may_hold(charge) && is_in_slot(charge));
        let mut leased = leased.peekable();
        if leased.peek().is_none() {
            return Vec::new();
        }
        let now = Instant::now();
        let asks = leased.filter_map(|charge| leases.ask(charge, now)).collect();
        // After the asks are marked as in flight: until then, the task may end.
        self.start_lease_returner(leases);
        asks
    }

    /// Asks for leases of these tiers, whose request was admitted already.
    pub(crate) fn renew_leases<'a>(self: &Arc<Self>, leased: impl Iterator<Item = &'a Charge>) {
        self.lease_asks(leased, None)
            .into_iter()
            .for_each(|ask| self.renew_lease(ask));
    }

    /// Asks for a lease in a call of its own. Without a runtime it does not.
    pub(crate) fn renew_lease(self: &Arc<Self>, ask: LeaseAsk) {
        if Handle::try_current().is_err() {
            return;
        }
        self.leases.iter().for_each(|leases| self.start_lease_returner(leases));
        let slot = self.router.slot(ask.charge());
        let (request, response) = Request::new(Operation::nothing(), Instant::now() + self.timeout);
        let call = self.enqueue(slot, (request.with_lease_asks(vec![ask]), response));
        cancellation::complete(async move { drop(call.await) });
    }

    /// Returns units in the background, when their lease ends.
    fn start_lease_returner(self: &Arc<Self>, leases: &Arc<Leases>) {
        let batcher = Arc::downgrade(self);
        leases.start_returner(move |units| {
            if let Some(batcher) = batcher.upgrade() {
                batcher.return_in_background(units);
            }
        });
    }

    /// Returns all units that this node holds, and those of leases that it is about to receive.
    pub(crate) async fn return_leases(self: &Arc<Self>) {
        let Some(leases) = &self.leases else { return };
        // With traffic there may always be some: each ends by its deadline.
        _ = timeout(self.timeout, leases.calls_ended()).await;
        leases
            .close()
            .into_iter()
            .for_each(|units| self.return_in_background(units));
        _ = timeout(self.timeout, leases.calls_ended()).await;
    }

    fn return_in_background(self: &Arc<Self>, units: Charged) {
        let in_flight = self.leases.as_ref().map(|leases| leases.in_flight());
        let call = self.return_units(units);
        cancellation::complete(async move {
            drop(call.await);
            drop(in_flight);
        });
    }

    /// Returns units of a lease. That clears only the cached denials of their own key.
    fn return_units(self: &Arc<Self>, units: Charged) -> PendingResponse {
        let Charge { limit, cost, .. } = units.charge();
        limit.metrics().count_leased_units(UnitOutcome::Returned, *cost);
        let slot = self.router.slot(units.charge());
        let operation = Operation::Settle(Receipt::from_charged(vec![units]));
        self.enqueue(slot, Request::part(operation, Instant::now() + self.timeout))
    }

    /// Renews what this node holds in the background, while it holds anything.
    pub(crate) fn start_renewer(self: &Arc<Self>) {
        let batcher = Arc::downgrade(self);
        self.holder.start_renewer(move |renewal| match batcher.upgrade() {
            Some(batcher) => {
                batcher.renew_slots(renewal);
                true
            }
            None => false,
        });
    }

    /// Lets the holder know of an operation that cannot be sent: what it would release is held no longer.
    pub(crate) fn drop_unsent(&self, operation: Operation) {
        let (mut request, _) = Request::new(operation, Instant::now());
        request.add_slot_calls(&self.holder);
    }

    fn renew_slots(self: &Arc<Self>, renewal: SlotCall) {
        let slot = self.router.slot(renewal.charge());
        let (request, response) = Request::new(Operation::nothing(), Instant::now() + self.timeout);
        let call = self.enqueue(slot, (request.with_slot_calls(vec![renewal]), response));
        cancellation::complete(async move { drop(call.await) });
    }

    fn address(&self) -> &Arc<str> {
        self.router.topology.address()
    }

    fn queue(&self, slot: Slot) -> &Arc<Queue> {
        let queue = || Arc::new(Queue::new(self.timeout, self.max_calls, &self.overload));
        self.queues[slot.index()].get_or_init(queue)
    }

    /// Enqueues a request. It is sent inline if no call is in flight, otherwise by a sender task.
    fn enqueue(
        self: &Arc<Self>,
        slot: Slot,
        (mut request, response): (Request, oneshot::Receiver<Response>),
    ) -> PendingResponse {
        request.add_slot_calls(&self.holder);
        let queue = self.queue(slot);
        let (deadline, sent) = (request.deadline, request.sent());
        let call = |id| Call {
            batcher: Arc::clone(self),
            slot,
            queue: Arc::clone(queue),
            id,
        };
        let is_correction = request.is_correction();
        let sending = match queue.push(request, Instant::now()) {
            Enqueued::SendInline(id, request) => {
                let call = call(id);
                Sending::Inline(Box::pin(async move { call.send(vec![*request]).await }))
            }
            enqueued => {
                if let Enqueued::SpawnSender(id) = enqueued {
                    tokio::spawn(call(id).send_queued());
                }
                Sending::Queued(QueuedRequest::new(queue, deadline, Arc::clone(&sent), is_correction))
            }
        };
        PendingResponse::new(self.address(), response, sending, Some(sent))
    }

    /// Applies an operation in one part per slot. It is completed even if the request is cancelled, since charges may have to be
    /// refunded.
    async fn scatter(self: Arc<Self>, operation: Operation, deadline: Instant, response: oneshot::Sender<Response>) {
        let sent = Instant::now();
        let (acquires, may_refund) = (matches!(operation, Operation::Acquire(_)), operation.may_refund());
        let release = |receipt| self.drop_unsent(Operation::Refund(receipt));
        let submit = |slot, operation, deadline| {
            PartResponse::new(self.enqueue(slot, Request::part(operation, deadline)), &release)
        };
        let merged = self.router.scatter(operation, deadline, &submit, &release).await;
        if let Some(cache) = &self.denial_cache {
            match &merged {
                Ok(decision) if acquires => cache.insert(decision, sent, Instant::now()),
                _ if may_refund => cache.clear(Instant::now()),
                _ => {}
            }
        }
        if let Err(Ok(mut decision)) = response.send(merged)
            && let Some(receipt) = decision.take_held()
        {
            drop(self.submit(Operation::Refund(receipt), [].iter()).await);
        }
    }
}

/// A call, which is sent inline or by a sender task.
struct Call {
    batcher: Arc<Batcher>,
    slot: Slot,
    queue: Arc<Queue>,
    id: CallId,
}

impl Call {
    /// Sends queued requests until the queue is empty, or other sender tasks suffice.
    fn send_queued(self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            loop {
                match self.queue.next(self.id, Instant::now()) {
                    Next::Send { batch, spawn } => {
                        if let Some(id) = spawn {
                            tokio::spawn(self.with_id(id).send_queued());
                        }
                        self.send(batch).await;
                        // Clients that were just answered may send their next request: this makes for fewer and larger batches.
                        tokio::task::yield_now().await;
                    }
                    Next::WaitUntil(at) => sleep_until(at).await,
                    Next::End => return,
                }
            }
        })
    }

    fn with_id(&self, id: CallId) -> Self {
        Self {
            batcher: Arc::clone(&self.batcher),
            slot: self.slot,
            queue: Arc::clone(&self.queue),
            id,
        }
    }

    async fn send(&self, requests: Vec<Request>) {
        let batcher = &self.batcher;
        let mut batch = Batch::new(
            requests,
            batcher.address(),
            batcher.timeout,
            batcher.denial_cache.clone(),
            batcher.leases.clone(),
        );
        batcher.router.route(self.slot, &mut batch).await;
        self.queue
            .record(self.id, batch.round_trip(), batch.late(), Instant::now());
    }
}

/// However a call ends, its place is released. A runtime that shuts down drops its tasks at any await point; then the requests that wait
/// for them fail.
impl Drop for Call {
    fn drop(&mut self) {
        let unsent = self.queue.end(self.id);
        if unsent.is_empty() {
            return;
        }
        let ended = RedisError::from((ErrorKind::Io, "the runtime has ended"));
        let ended = StoreError::before_sending(self.batcher.address(), ended);
        for mut request in unsent {
            request.respond(Err(ended.clone()));
        }
    }
}
