//! Requests that are sent in one call, each with its deadline.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::queue::Request;
use crate::store::redis::{error::StoreError, servers::Server};

/// Requests in the order of arrival, and so of their deadlines. A cancelled or expired request does not delay the others, and
/// is dropped if the batch has not been sent yet.
pub(crate) struct Batch {
    pub(crate) requests: Vec<Request>,
    address: Arc<str>,
    /// The deadline of each request, for its error.
    deadline: Duration,
    sent: Option<Instant>,
}

impl Batch {
    pub(crate) fn new(requests: Vec<Request>, address: &Arc<str>, deadline: Duration) -> Self {
        Self {
            requests,
            address: Arc::clone(address),
            deadline,
            sent: None,
        }
    }

    /// Sets the address that timeout errors name.
    pub(crate) fn bound_for(&mut self, server: &Server) {
        self.address = Arc::clone(server.address());
    }

    /// Runs a future until no request waits any more, and fails the requests whose deadline passes meanwhile.
    pub(crate) async fn within<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        while let Some(until) = self.next_deadline() {
            match timeout_at(until, work.as_mut()).await {
                Ok(done) => return Some(done),
                Err(_) => self.expire(),
            }
        }
        None
    }

    fn next_deadline(&self) -> Option<Instant> {
        let mut waiting = self.requests.iter().filter(|request| request.is_unanswered());
        waiting.next().map(|request| request.until)
    }

    fn expire(&mut self) {
        let now = Instant::now();
        let late = self.late();
        for request in self.requests.iter_mut().filter(|request| request.until <= now) {
            request.answer(Err(late.clone()));
        }
    }

    /// Drops cancelled and expired requests, and marks the rest as sent: the reply will cover all of them. False if none is
    /// left.
    pub(crate) fn set_off(&mut self) -> bool {
        self.expire();
        self.requests.retain(Request::is_awaited);
        self.sent = Some(Instant::now());
        !self.requests.is_empty()
    }

    /// When it was sent; the current time if it was not.
    pub(crate) fn sent(&self) -> Instant {
        self.sent.unwrap_or_else(Instant::now)
    }

    /// Marks it as not sent, after Redis has rejected it without executing anything: it may be sent again.
    pub(crate) fn turn_back(&mut self) {
        self.sent = None;
    }

    /// Whether at least half the deadline has passed since then, which counts as a failure of the server.
    pub(crate) fn is_silence(&self, since: Instant) -> bool {
        since.elapsed() >= self.deadline / 2
    }

    /// The error of requests whose deadline has passed.
    pub(crate) fn late(&self) -> StoreError {
        StoreError::timeout(&self.address, self.deadline, self.sent.is_some())
    }

    /// Answers all requests with the same error.
    pub(crate) fn fail(&mut self, error: &StoreError) {
        for request in &mut self.requests {
            request.answer(Err(error.clone()));
        }
    }

    /// Splits it into batches of one request each.
    pub(crate) fn split(self) -> impl Iterator<Item = Self> {
        let Self {
            requests,
            address,
            deadline,
            ..
        } = self;
        let alone = move |request| Self::new(vec![request], &address, deadline);
        requests.into_iter().map(alone)
    }
}
