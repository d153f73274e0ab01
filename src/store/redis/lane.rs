//! A lane: one pooled connection, shared by many calls, let go of only to be replaced.
//!
//! Checking a connection out of a pool costs a round trip of its own, a PING to see that it still lives. A lane checks
//! one out once and hands out clones; redis-rs sends what they are given over the one socket, side by side.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deadpool_redis::{
    Connection, Pool, PoolError,
    redis::{ErrorKind, RedisError, aio::MultiplexedConnection},
};
use tokio::sync::watch;

use super::error::StoreError;

#[derive(Default)]
pub(super) struct Lane(Mutex<Link>);

#[derive(Default)]
enum Link {
    #[default]
    Down,
    /// A task is connecting; everybody waits for what it finds. When its runtime ends before it does, the channel
    /// closes and the lane counts as down.
    Connecting(watch::Receiver<Found>),
    Up(Connection, Serial),
}

/// Tells a lane's connections apart.
type Serial = Arc<()>;
type Found = Option<Result<Line, StoreError>>;

/// A lane's connection, as a call uses it.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) connection: MultiplexedConnection,
    lane: Arc<Lane>,
    serial: Serial,
}

impl Lane {
    fn link(&self) -> MutexGuard<'_, Link> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, if there is one.
    pub(super) fn line(self: &Arc<Self>) -> Option<Line> {
        match &*self.link() {
            Link::Up(connection, serial) => Some(Line {
                connection: (**connection).clone(),
                lane: Arc::clone(self),
                serial: Arc::clone(serial),
            }),
            Link::Down | Link::Connecting(_) => None,
        }
    }

    /// Sees to it that somebody is connecting, and tells where to hear of it.
    pub(super) fn connect(self: &Arc<Self>, pool: &Pool, address: &Arc<str>) -> watch::Receiver<Found> {
        let mut link = self.link();
        if let Link::Connecting(found) = &*link
            && found.has_changed().is_ok()
        {
            return found.clone();
        }
        let (sender, found) = watch::channel(None);
        *link = Link::Connecting(found.clone());
        // A task of its own: the request that began it may give up before it is done.
        tokio::spawn(connect(Arc::clone(self), pool.clone(), Arc::clone(address), sender));
        found
    }
}

async fn connect(lane: Arc<Lane>, pool: Pool, address: Arc<str>, found: watch::Sender<Found>) {
    let outcome = match pool.get().await {
        Ok(connection) => {
            let (clone, serial) = ((*connection).clone(), Serial::default());
            *lane.link() = Link::Up(connection, Arc::clone(&serial));
            Ok(Line {
                connection: clone,
                lane,
                serial,
            })
        }
        Err(error) => {
            *lane.link() = Link::Down;
            let error = match error {
                PoolError::Backend(error) => error,
                other => RedisError::from((ErrorKind::Io, "the pool gave no connection", other.to_string())),
            };
            Err(StoreError::before_sending(&address, error))
        }
    };
    found.send_replace(Some(outcome));
}

impl Line {
    /// Lets go of this connection for good, unless the lane has replaced it already.
    pub(super) fn retire(&self) {
        let mut link = self.lane.link();
        if matches!(&*link, Link::Up(_, serial) if Arc::ptr_eq(serial, &self.serial))
            && let Link::Up(connection, _) = std::mem::take(&mut *link)
        {
            drop(Connection::take(connection));
        }
    }
}
