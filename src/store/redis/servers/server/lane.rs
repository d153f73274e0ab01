//! A lane of the connection pool: one pooled connection, which many calls share until it is replaced.
//!
//! Checking a connection out of a pool costs a round trip, a PING that tests the connection. A lane checks one out once and
//! returns clones of it, whose calls redis-rs multiplexes on one socket.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deadpool_redis::{Connection, redis::aio::MultiplexedConnection};
use tokio::time::Instant;

use super::{
    super::errand::{Errand, Outcome},
    way::Way,
};

#[derive(Default)]
pub(super) struct Lane {
    link: Mutex<Option<Link>>,
    connecting: Errand,
}

struct Link {
    connection: Connection,
    /// When the connection was made. Each connection has its own `Arc`, whose pointer identifies it.
    made: Arc<Instant>,
}

/// A handle to a lane's connection, for one call.
pub(crate) struct Line {
    pub(crate) connection: MultiplexedConnection,
    lane: Arc<Lane>,
    made: Arc<Instant>,
}

impl Lane {
    fn link(&self) -> MutexGuard<'_, Option<Link>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle to the connection, if there is one.
    pub(super) fn line(self: &Arc<Self>) -> Option<Line> {
        self.link().as_ref().map(|link| Line {
            connection: (*link.connection).clone(),
            lane: Arc::clone(self),
            made: Arc::clone(&link.made),
        })
    }

    /// Joins the running connection attempt, or starts one.
    pub(super) fn connect(self: &Arc<Self>, way: &Arc<Way>) -> Outcome {
        let (lane, way) = (Arc::clone(self), Arc::clone(way));
        self.connecting.join(async move {
            let connection = way.connect().await?;
            let made = Arc::new(Instant::now());
            *lane.link() = Some(Link { connection, made });
            Ok(())
        })
    }
}

impl Line {
    /// Discards this connection, unless the lane has already replaced it. Calls in flight on it are completed.
    pub(crate) fn retire(&self) {
        let mut link = self.lane.link();
        if link.as_ref().is_some_and(|link| Arc::ptr_eq(&link.made, &self.made))
            && let Some(Link { connection, .. }) = link.take()
        {
            drop(Connection::take(connection));
        }
    }

    /// When the connection was made.
    pub(crate) fn made(&self) -> Instant {
        *self.made
    }
}
