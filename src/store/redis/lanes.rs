//! The lanes together, and which of them a call takes.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use deadpool_redis::{
    Pool,
    redis::{ErrorKind, RedisError},
};

use super::{
    error::StoreError,
    lane::{Lane, Line},
};

pub(super) struct Lanes {
    address: Arc<str>,
    pool: Pool,
    lanes: Box<[Arc<Lane>]>,
    next: AtomicUsize,
}

impl Lanes {
    pub(super) fn new(address: Arc<str>, pool: Pool, lanes: usize) -> Self {
        Self {
            address,
            pool,
            lanes: (0..lanes).map(|_| Arc::default()).collect(),
            next: AtomicUsize::new(0),
        }
    }

    pub(super) fn address(&self) -> &Arc<str> {
        &self.address
    }

    pub(super) fn count(&self) -> usize {
        self.lanes.len()
    }

    /// The next lane's connection. While that lane connects, any other will do; it is waited for only when there is
    /// none.
    pub(super) async fn line(&self) -> Result<Line, StoreError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len();
        if let Some(line) = self.lanes[turn].line() {
            return Ok(line);
        }
        let mut found = self.lanes[turn].connect(&self.pool, &self.address);
        if let Some(line) = self.lanes.iter().find_map(Lane::line) {
            return Ok(line);
        }
        let outcome = found
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|found| found.clone());
        outcome.unwrap_or_else(|| {
            let ended = RedisError::from((ErrorKind::Io, "the runtime that was connecting has ended"));
            Err(StoreError::before_sending(&self.address, ended))
        })
    }
}
