//! Requests that travel together, and the time that each of them has.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::queue::Request;
use crate::store::redis::{error::StoreError, servers::Server};

/// Requests in the order in which they came, and so of their deadlines. Nobody is held up by one who has left or has run
/// out of time; and who has, is not sent if that is not too late.
pub(crate) struct Batch {
    pub(crate) requests: Vec<Request>,
    address: Arc<str>,
    /// What each request was given, for its error to tell.
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

    /// Who is to blame if it is late.
    pub(crate) fn bound_for(&mut self, server: &Server) {
        self.address = Arc::clone(server.address());
    }

    /// Does some work while anybody waits for it, and answers those who run out of time meanwhile.
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

    /// From now on it is too late to leave anybody out: a reply speaks of all. False if there is nobody left.
    pub(crate) fn set_off(&mut self) -> bool {
        self.expire();
        self.requests.retain(Request::is_awaited);
        self.sent = Some(Instant::now());
        !self.requests.is_empty()
    }

    /// When it was sent, or would be.
    pub(crate) fn sent(&self) -> Instant {
        self.sent.unwrap_or_else(Instant::now)
    }

    /// It was turned away before anything was done: it may leave again, with those who are still there.
    pub(crate) fn turn_back(&mut self) {
        self.sent = None;
    }

    /// Whether nobody has answered since then, for so long that something must be wrong.
    pub(crate) fn is_silence(&self, since: Instant) -> bool {
        since.elapsed() >= self.deadline / 2
    }

    /// What those are told who have run out of time.
    pub(crate) fn late(&self) -> StoreError {
        StoreError::late(&self.address, self.deadline, self.sent.is_some())
    }

    /// Tells everybody the same.
    pub(crate) fn fail(&mut self, error: &StoreError) {
        for request in &mut self.requests {
            request.answer(Err(error.clone()));
        }
    }

    /// Each on its own.
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
