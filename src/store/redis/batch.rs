//! Requests with their deadlines, and the batches that they are sent in.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering, fence},
    },
    time::Duration,
};

use deadpool_redis::redis::{Cmd, RedisError, Value};
use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

use super::{
    denial_cache::DenialCache,
    error::StoreError,
    holder::{NodeHolder, SlotCall},
    leases::{LeaseAsk, Leases},
    protocol::{CallPart, ErrorAction, OperationError, Reply},
};
use crate::{algorithm::AnyAlgorithm, charge::Charge, decision::Decision, operation::Operation};

/// The number of log entries that weigh as much as a charge.
const LOG_ENTRIES_PER_CHARGE: usize = 64;

pub(crate) type Response = Result<Decision, StoreError>;

/// An operation, its deadline, and the sender of its response.
pub(crate) struct Request {
    /// Without charges for a renewal, which only asks for leases.
    pub(crate) operation: Operation,
    /// The leases that are asked for in the same call. Redis charges them only if it admits the operation.
    lease_asks: Vec<LeaseAsk>,
    /// A call per charge of a concurrency limit that it acquires or releases; or renewals alone.
    slot_calls: Vec<SlotCall>,
    pub(crate) deadline: Instant,
    /// Whether it contains only some of a request's tiers.
    pub(crate) is_part: bool,
    /// Whether it may have been sent, for its caller.
    sent: Arc<AtomicBool>,
    response: Option<oneshot::Sender<Response>>,
}

impl Request {
    pub(crate) fn new(operation: Operation, deadline: Instant) -> (Self, oneshot::Receiver<Response>) {
        let (sender, receiver) = oneshot::channel();
        let request = Self {
            operation,
            lease_asks: Vec::new(),
            slot_calls: Vec::new(),
            deadline,
            is_part: false,
            sent: Arc::default(),
            response: Some(sender),
        };
        (request, receiver)
    }

    pub(crate) fn part(operation: Operation, deadline: Instant) -> (Self, oneshot::Receiver<Response>) {
        let (request, receiver) = Self::new(operation, deadline);
        let is_part = true;
        (Self { is_part, ..request }, receiver)
    }

    /// Asks for leases in the same call.
    pub(crate) fn with_lease_asks(self, lease_asks: Vec<LeaseAsk>) -> Self {
        Self { lease_asks, ..self }
    }

    /// Renews slots, in a request without an operation.
    pub(crate) fn with_slot_calls(self, slot_calls: Vec<SlotCall>) -> Self {
        Self { slot_calls, ..self }
    }

    /// Lets the holder know of the slots that it acquires or releases.
    pub(crate) fn add_slot_calls(&mut self, holder: &Arc<NodeHolder>) {
        let call = match &self.operation {
            Operation::Acquire(_) => SlotCall::acquire,
            Operation::Refund(_) | Operation::Settle(_) => SlotCall::release,
            Operation::Peek(_) | Operation::Reset(_) => return,
        };
        let held = self.operation.charges().filter(|charge| charge.holds_slots());
        self.slot_calls.extend(held.map(|charge| call(holder, charge)));
    }

    /// Whether it refunds, settles or resets, or renews a lease.
    pub(crate) fn is_correction(&self) -> bool {
        matches!(
            self.operation,
            Operation::Refund(_) | Operation::Settle(_) | Operation::Reset(_)
        ) || self.is_renewal()
    }

    /// Whether it only asks for leases, or renews slots.
    fn is_renewal(&self) -> bool {
        self.operation.charges().next().is_none()
    }

    /// What a call contains of it: the operation, and the leases, which a renewal asks for without a condition.
    fn parts(&self) -> impl Iterator<Item = CallPart<'_>> {
        let is_renewal = self.is_renewal();
        let operation = (!is_renewal).then_some(CallPart::Operation(&self.operation, &self.slot_calls));
        let slots = self
            .slot_calls
            .iter()
            .filter(|call| call.is_renewal())
            .map(CallPart::SlotRenewal);
        let leases = self.lease_asks.iter().map(move |ask| match is_renewal {
            true => CallPart::Renewal(ask.charge()),
            false => CallPart::Lease(ask.charge()),
        });
        operation.into_iter().chain(leases).chain(slots)
    }

    /// A flag that is set before the request is sent.
    pub(crate) fn sent(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.sent)
    }

    /// Sends the response, unless one was sent. Returns whether it was; the receiver may have been dropped.
    pub(crate) fn respond(&mut self, response: Response) -> bool {
        self.response.take().is_some_and(|sender| sender.send(response).is_ok())
    }

    /// Lets the holder know what Redis has decided about the slots. An error if that is superseded for a tier that is no shadow, and if the
    /// request does not wait for it any more: then its calls are `unawaited`.
    fn answer_slots(&mut self, mut decision: Decision, unawaited: &mut Vec<SlotCall>) -> Response {
        let acquires = matches!(self.slot_calls.first(), Some(call) if call.is_acquire());
        if acquires && decision.admits() && !self.is_awaited() {
            unawaited.append(&mut self.slot_calls);
            return Err(StoreError::Superseded);
        }
        let tiers = decision.tiers_mut().iter_mut().filter(|tier| tier.charge.holds_slots());
        let mut is_current = true;
        for (call, tier) in self.slot_calls.iter_mut().zip(tiers) {
            let applies = call.answer(tier);
            if acquires && !applies && tier.is_shadow() {
                tier.mark = None;
            } else {
                is_current &= applies;
            }
        }
        if !acquires {
            // A release is not released again.
            drop(decision.take_held());
            return Ok(decision);
        }
        match is_current {
            true => Ok(decision),
            false => {
                self.undo_slots();
                Err(StoreError::Superseded)
            }
        }
    }

    /// Releases the slots that it has acquired.
    fn undo_slots(&mut self) {
        self.slot_calls.drain(..).for_each(SlotCall::undo);
    }

    pub(crate) fn is_pending(&self) -> bool {
        self.response.is_some()
    }

    /// Whether it is pending and its receiver has not been dropped.
    pub(crate) fn is_awaited(&self) -> bool {
        self.response.as_ref().is_some_and(|sender| !sender.is_closed())
    }

    pub(crate) fn weight(&self) -> usize {
        let weight = |charge: &Charge| match charge.limit.algorithm() {
            AnyAlgorithm::SlidingLog(_) => 1 + charge.cost as usize / LOG_ENTRIES_PER_CHARGE,
            _ => 1,
        };
        let leases = self.lease_asks.iter().map(LeaseAsk::charge);
        let renewals = self.slot_calls.iter().filter(|call| call.is_renewal()).count();
        self.operation.charges().chain(leases).map(weight).sum::<usize>() + renewals
    }
}

/// Requests in the order of arrival, and so of their deadlines. A cancelled or expired request does not delay the others, and
/// is dropped if the batch has not been sent yet.
pub(crate) struct Batch {
    requests: Vec<Request>,
    address: Arc<str>,
    /// The time that each request had until its deadline.
    timeout: Duration,
    sent: Option<Instant>,
    /// The time from sending to the reply.
    round_trip: Option<Duration>,
    /// The number of requests that expired after it was sent.
    late: usize,
    denial_cache: Option<Arc<DenialCache>>,
    leases: Option<Arc<Leases>>,
}

impl Batch {
    pub(crate) fn new(
        requests: Vec<Request>,
        address: &Arc<str>,
        timeout: Duration,
        denial_cache: Option<Arc<DenialCache>>,
        leases: Option<Arc<Leases>>,
    ) -> Self {
        Self {
            requests,
            address: Arc::clone(address),
            timeout,
            sent: None,
            round_trip: None,
            late: 0,
            denial_cache,
            leases,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// What a call contains.
    pub(crate) fn parts(&self) -> impl Iterator<Item = CallPart<'_>> {
        self.requests.iter().flat_map(Request::parts)
    }

    /// Sets the address that timeout errors name.
    pub(crate) fn set_target(&mut self, address: &Arc<str>) {
        self.address = Arc::clone(address);
    }

    /// Runs a future until no request waits any more, and fails the requests whose deadline passes meanwhile.
    pub(crate) async fn run_until_deadline<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        while let Some(deadline) = self.next_deadline() {
            match timeout_at(deadline, work.as_mut()).await {
                Ok(done) => return Some(done),
                Err(_) => self.expire(),
            }
        }
        None
    }

    fn next_deadline(&self) -> Option<Instant> {
        let waiting = self.requests.iter().filter(|request| request.is_pending());
        waiting.map(|request| request.deadline).min()
    }

    fn expire(&mut self) {
        let now = Instant::now();
        let timeout = self.timeout_error();
        let is_expired = |request: &&mut Request| request.is_pending() && request.deadline <= now;
        for request in self.requests.iter_mut().filter(is_expired) {
            self.late += usize::from(self.sent.is_some());
            request.respond(Err(timeout.clone()));
        }
    }

    /// Drops acquires that are cancelled or expired, and marks the rest as sent: the reply will cover all of them. False if none is
    /// left.
    pub(crate) fn mark_sent(&mut self) -> bool {
        self.expire();
        for request in &self.requests {
            request.sent.store(true, Ordering::Relaxed);
        }
        // A caller that gives up closes the channel before it reads the flag, so either it sees that the request was sent, or the
        // request is dropped.
        fence(Ordering::SeqCst);
        self.requests
            .retain(|request| request.is_awaited() || (request.is_correction() && request.is_pending()));
        let asks = self.requests.iter_mut().flat_map(|request| &mut request.lease_asks);
        asks.for_each(LeaseAsk::mark_sent);
        let slot_calls = self.requests.iter_mut().flat_map(|request| &mut request.slot_calls);
        slot_calls.for_each(SlotCall::mark_sent);
        let is_sent = !self.requests.is_empty();
        self.sent = is_sent.then(Instant::now);
        is_sent
    }

    /// The time from sending to the reply; `Err` with the time of sending if there is no reply, `None` if it was not sent.
    pub(crate) fn round_trip(&self) -> Option<Result<Duration, Instant>> {
        self.sent.map(|sent| self.round_trip.ok_or(sent))
    }

    /// The number of requests that expired after it was sent.
    pub(crate) fn late(&self) -> usize {
        self.late
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// When it was sent; the current time if it was not.
    pub(crate) fn sent_at(&self) -> Instant {
        self.sent.unwrap_or_else(Instant::now)
    }

    /// Marks it as not sent, after an error: it is sent again, or fails.
    pub(crate) fn mark_unsent(&mut self) {
        self.sent = None;
    }

    /// Whether at least half the timeout has passed since then, which counts as a failure of the server.
    pub(crate) fn is_unresponsive(&self, since: Instant) -> bool {
        since.elapsed() >= self.timeout / 2
    }

    /// The error of requests whose deadline has passed.
    pub(crate) fn timeout_error(&self) -> StoreError {
        StoreError::timeout(&self.address, self.timeout, self.sent.is_some())
    }

    /// Fails all requests with the same error.
    pub(crate) fn fail(&mut self, error: &StoreError) {
        for request in &mut self.requests {
            request.respond(Err(error.clone()));
        }
    }

    /// Responds to the requests from a reply, and updates the denial cache. Returns the error that Redis reported for a request,
    /// preferably one that affects the whole server. A request with values that the script does not send fails alone; a reply whose
    /// frame cannot be decoded is an error.
    pub(crate) fn complete(
        &mut self,
        reply: &Value,
        round_trip: Duration,
        command: &Cmd,
        address: &Arc<str>,
    ) -> Result<Option<RedisError>, StoreError> {
        let charges = self.parts().map(|part| part.charges().count()).sum();
        let mut reply = Reply::new(reply, charges, command)?;
        let (sent, received) = (self.sent_at(), Instant::now());
        self.round_trip = Some(round_trip);
        let mut failure = None;
        // Dropped at the end: their slots count as lost then, which supersedes all other calls that are in flight.
        let mut unawaited = Vec::new();
        for request in &mut self.requests {
            let is_renewal = request.is_renewal();
            let operation = std::mem::replace(&mut request.operation, Operation::nothing());
            let (acquires, may_refund) = (matches!(operation, Operation::Acquire(_)), operation.may_refund());
            let resets = matches!(operation, Operation::Reset(_));
            let decided = reply.decision(operation);
            if let (Some(leases), Ok(decision)) = (&self.leases, &decided) {
                for tier in decision.tiers() {
                    match (acquires && !is_renewal, resets) {
                        (true, _) => leases.decided(tier, decision.now(), received),
                        (_, true) => leases.forget(&tier.charge),
                        _ => {}
                    }
                }
            }
            for ask in request.lease_asks.drain(..) {
                // An answer that cannot be read is none.
                if let Ok(decision) = reply.decision(Operation::Acquire(ask.charge().clone().into())) {
                    if let (Some(cache), true) = (&self.denial_cache, decision.admits()) {
                        cache.forget([ask.charge()], received);
                    }
                    ask.answer(&decision, sent, received);
                }
            }
            for call in request.slot_calls.iter_mut().filter(|call| call.is_renewal()) {
                if let Ok(decision) = reply.decision(Operation::Acquire(call.charge().clone().into())) {
                    call.answer(&decision.tiers()[0]);
                }
            }
            match (&self.denial_cache, &decided) {
                // The verdicts on a part are not the decision about the whole request.
                _ if acquires && request.is_part => {}
                (Some(cache), Ok(decision)) if acquires => cache.insert(decision, sent, received),
                (Some(cache), Ok(decision)) if may_refund && request.is_part => {
                    cache.forget(decision.tiers().iter().map(|tier| &tier.charge), received);
                }
                (Some(cache), _) if may_refund => cache.clear(received),
                _ => {}
            }
            let decided = decided.map_err(|error| match error {
                OperationError::Server(error) => {
                    if failure.is_none() || ErrorAction::of(&error).is_server_wide() {
                        failure = Some(error.clone());
                    }
                    StoreError::after_sending(address, error)
                }
                OperationError::Protocol(error) => error,
            });
            let has_slots = !is_renewal && !request.slot_calls.is_empty();
            let response = match has_slots {
                true => decided.and_then(|decision| request.answer_slots(decision, &mut unawaited)),
                false => decided,
            };
            if !request.respond(response) && has_slots {
                request.undo_slots();
            }
        }
        Ok(failure)
    }

    /// Clears the denial cache if the batch contains refunds: without a reply, they may have been applied.
    pub(crate) fn clear_denials_after_refund(&self) {
        if self.requests.iter().any(|request| request.operation.may_refund()) {
            self.clear_denials();
        }
    }

    pub(crate) fn clear_denials(&self) {
        if let Some(cache) = &self.denial_cache {
            cache.clear(Instant::now());
        }
    }

    /// Splits it into batches of one request each.
    pub(crate) fn split(&mut self) -> Vec<Self> {
        let requests = std::mem::take(&mut self.requests);
        let (denial_cache, leases) = (&self.denial_cache, &self.leases);
        let single = |request| {
            let requests = vec![request];
            Self::new(
                requests,
                &self.address,
                self.timeout,
                denial_cache.clone(),
                leases.clone(),
            )
        };
        requests.into_iter().map(single).collect()
    }
}

#[cfg(test)]
mod tests;
