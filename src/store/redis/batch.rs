//! Requests with their deadlines, and the batches that they are sent in.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use deadpool_redis::redis::{Cmd, RedisError, Value};
use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

use super::{
    denial_cache::DenialCache,
    error::StoreError,
    protocol::{ErrorAction, Reply},
};
use crate::{algorithm::AnyAlgorithm, charge::Charge, decision::Decision, operation::Operation};

/// The number of log entries that weigh as much as a charge.
const LOG_ENTRIES_PER_CHARGE: usize = 64;

pub(crate) type Response = Result<Decision, StoreError>;

/// An operation, its deadline, and the sender of its response.
pub(crate) struct Request {
    pub(crate) operation: Operation,
    pub(crate) deadline: Instant,
    /// Whether it contains only some of a request's tiers.
    pub(crate) is_part: bool,
    response: Option<oneshot::Sender<Response>>,
}

impl Request {
    pub(crate) fn new(operation: Operation, deadline: Instant) -> (Self, oneshot::Receiver<Response>) {
        let (sender, receiver) = oneshot::channel();
        let request = Self {
            operation,
            deadline,
            is_part: false,
            response: Some(sender),
        };
        (request, receiver)
    }

    pub(crate) fn part(operation: Operation, deadline: Instant) -> (Self, oneshot::Receiver<Response>) {
        let (request, receiver) = Self::new(operation, deadline);
        let is_part = true;
        (Self { is_part, ..request }, receiver)
    }

    /// Sends the response, unless one was sent. The receiver may have been dropped.
    pub(crate) fn respond(&mut self, response: Response) {
        if let Some(sender) = self.response.take() {
            _ = sender.send(response);
        }
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
        self.operation.charges().map(weight).sum()
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
    denial_cache: Option<Arc<DenialCache>>,
}

impl Batch {
    pub(crate) fn new(
        requests: Vec<Request>,
        address: &Arc<str>,
        timeout: Duration,
        denial_cache: Option<Arc<DenialCache>>,
    ) -> Self {
        Self {
            requests,
            address: Arc::clone(address),
            timeout,
            sent: None,
            denial_cache,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn operations(&self) -> impl ExactSizeIterator<Item = &Operation> {
        self.requests.iter().map(|request| &request.operation)
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
        let mut waiting = self.requests.iter().filter(|request| request.is_pending());
        waiting.next().map(|request| request.deadline)
    }

    fn expire(&mut self) {
        let now = Instant::now();
        let timeout = self.timeout_error();
        for request in self.requests.iter_mut().filter(|request| request.deadline <= now) {
            request.respond(Err(timeout.clone()));
        }
    }

    /// Drops cancelled and expired requests, and marks the rest as sent: the reply will cover all of them. False if none is
    /// left.
    pub(crate) fn mark_sent(&mut self) -> bool {
        self.expire();
        self.requests.retain(Request::is_awaited);
        self.sent = Some(Instant::now());
        !self.requests.is_empty()
    }

    /// When it was sent; the current time if it was not.
    pub(crate) fn sent_at(&self) -> Instant {
        self.sent.unwrap_or_else(Instant::now)
    }

    /// Marks it as not sent, after Redis has rejected it without executing anything: it may be sent again.
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

    /// Responds to the requests from a reply, and updates the denial cache. Returns the error of a request that failed, preferably one
    /// that affects the whole server; a reply that cannot be decoded is an error.
    pub(crate) fn complete(
        &mut self,
        reply: &Value,
        command: &Cmd,
        address: &Arc<str>,
    ) -> Result<Option<RedisError>, StoreError> {
        let charges = self.operations().map(|operation| operation.charges().count()).sum();
        let mut reply = Reply::new(reply, charges, command)?;
        let (sent, received) = (self.sent_at(), Instant::now());
        let mut failure = None;
        for request in &mut self.requests {
            let operation = std::mem::replace(&mut request.operation, Operation::nothing());
            let acquires = matches!(operation, Operation::Acquire(_));
            let decided = reply.decision(operation)?;
            match (&self.denial_cache, &decided) {
                // The verdicts on a part are not the decision about the whole request.
                _ if request.is_part => {}
                (Some(cache), Ok(decision)) if acquires => cache.insert(decision, sent, received),
                (Some(cache), _) if !acquires => cache.clear(received),
                _ => {}
            }
            request.respond(decided.map_err(|error| {
                if failure.is_none() || ErrorAction::of(&error).is_server_wide() {
                    failure = Some(error.clone());
                }
                StoreError::after_sending(address, error)
            }));
        }
        Ok(failure)
    }

    /// Clears the denial cache if the batch contains refunds: without a reply, they may have been applied.
    pub(crate) fn clear_denials_after_refund(&self) {
        let corrects = |request: &Request| !matches!(request.operation, Operation::Acquire(_));
        if self.requests.iter().any(corrects) {
            self.clear_denials();
        }
    }

    pub(crate) fn clear_denials(&self) {
        if let Some(cache) = &self.denial_cache {
            cache.clear(Instant::now());
        }
    }

    /// Splits it into batches of one request each.
    pub(crate) fn split(self) -> impl Iterator<Item = Self> {
        let Self {
            requests,
            address,
            timeout,
            denial_cache,
            ..
        } = self;
        let single = move |request| Self::new(vec![request], &address, timeout, denial_cache.clone());
        requests.into_iter().map(single)
    }
}
