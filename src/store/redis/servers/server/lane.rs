//! A lane: one pooled connection, shared by many calls, let go of only to be replaced.
//!
//! Checking a connection out of a pool costs a round trip of its own, a PING to see that it still lives. A lane checks
//! one out once and hands out clones; redis-rs sends what they are given over the one socket, side by side.

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
    /// When it was made. There is one for each, which tells a lane's connections apart.
    made: Arc<Instant>,
}

/// A lane's connection, as a call uses it.
pub(crate) struct Line {
    pub(crate) connection: MultiplexedConnection,
    lane: Arc<Lane>,
    made: Arc<Instant>,
}

impl Lane {
    fn link(&self) -> MutexGuard<'_, Option<Link>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, if there is one.
    pub(super) fn line(self: &Arc<Self>) -> Option<Line> {
        self.link().as_ref().map(|link| Line {
            connection: (*link.connection).clone(),
            lane: Arc::clone(self),
            made: Arc::clone(&link.made),
        })
    }

    /// Sees to it that somebody is connecting.
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
    /// Lets go of this connection for good, unless the lane has replaced it already. Calls that it carries are seen
    /// through.
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
