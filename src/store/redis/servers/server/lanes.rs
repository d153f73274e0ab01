//! The connection pool, which selects a lane for each call.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use deadpool_redis::redis::{ErrorKind, RedisError};

use super::{
    lane::{Lane, Line},
    way::Way,
};

pub(super) struct Lanes {
    way: Arc<Way>,
    lanes: Box<[Arc<Lane>]>,
    next: AtomicUsize,
}

impl Lanes {
    pub(super) fn new(way: Way, lanes: usize) -> Self {
        Self {
            way: Arc::new(way),
            lanes: (0..lanes).map(|_| Arc::default()).collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// The connection of the next lane, round-robin. While that lane connects, the connection of another lane is returned; a
    /// call waits only if no lane has one.
    pub(super) async fn line(&self) -> Result<Line, RedisError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len();
        let lane = &self.lanes[turn];
        if let Some(line) = lane.line() {
            return Ok(line);
        }
        let connecting = lane.connect(&self.way);
        if let Some(line) = self.lanes.iter().find_map(Lane::line) {
            return Ok(line);
        }
        connecting.wait().await?;
        let lost = || RedisError::from((ErrorKind::Io, "the connection was lost as soon as it was made"));
        lane.line().ok_or_else(lost)
    }
}
