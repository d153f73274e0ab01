//! The connection pool of a node: several slots, each with one connection that many calls share.
//!
//! Checking a connection out of a deadpool pool costs a round trip, a PING that tests the connection. A slot checks one out once and
//! returns clones of it, whose calls redis-rs multiplexes on one socket.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use deadpool_redis::{
    Connection,
    redis::{ErrorKind, RedisError, aio::MultiplexedConnection},
};
use tokio::time::Instant;

use super::{
    connector::Connector,
    single_flight::{Flight, SingleFlight},
};

pub(crate) struct ConnectionPool {
    connector: Arc<Connector>,
    slots: Box<[Arc<ConnectionSlot>]>,
    next: AtomicUsize,
}

#[derive(Default)]
struct ConnectionSlot {
    established: Mutex<Option<Established>>,
    connecting: SingleFlight,
}

struct Established {
    connection: Connection,
    /// When the connection was made. Each connection has its own `Arc`, whose pointer identifies it.
    connected_at: Arc<Instant>,
}

/// A handle to a slot's connection, for one call.
pub(crate) struct ConnectionHandle {
    pub(crate) connection: MultiplexedConnection,
    slot: Arc<ConnectionSlot>,
    connected_at: Arc<Instant>,
}

impl ConnectionPool {
    pub(crate) fn new(connector: Connector, size: usize) -> Self {
        Self {
            connector: Arc::new(connector),
            slots: (0..size).map(|_| Arc::default()).collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// The connection of the next slot, round-robin. While that slot connects, the connection of another slot is returned; a call
    /// waits only if no slot has one.
    pub(crate) async fn get(&self) -> Result<ConnectionHandle, RedisError> {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.slots.len();
        let slot = &self.slots[next];
        if let Some(handle) = slot.handle() {
            return Ok(handle);
        }
        let connecting = slot.connect(&self.connector);
        if let Some(handle) = self.slots.iter().find_map(ConnectionSlot::handle) {
            return Ok(handle);
        }
        connecting.wait().await?;
        let lost = || RedisError::from((ErrorKind::Io, "the connection was lost as soon as it was made"));
        slot.handle().ok_or_else(lost)
    }
}

impl ConnectionSlot {
    fn established(&self) -> MutexGuard<'_, Option<Established>> {
        self.established.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(self: &Arc<Self>) -> Option<ConnectionHandle> {
        self.established().as_ref().map(|established| ConnectionHandle {
            connection: (*established.connection).clone(),
            slot: Arc::clone(self),
            connected_at: Arc::clone(&established.connected_at),
        })
    }

    /// Joins the running connection attempt, or starts one.
    fn connect(self: &Arc<Self>, connector: &Arc<Connector>) -> Flight {
        let (slot, connector) = (Arc::clone(self), Arc::clone(connector));
        self.connecting.join(async move {
            let connection = connector.connect().await?;
            let connected_at = Arc::new(Instant::now());
            *slot.established() = Some(Established {
                connection,
                connected_at,
            });
            Ok(())
        })
    }
}

impl ConnectionHandle {
    /// Discards this connection, unless the slot has already replaced it. Calls in flight on it are completed.
    pub(crate) fn invalidate(&self) {
        let mut established = self.slot.established();
        let is_same = |current: &Established| Arc::ptr_eq(&current.connected_at, &self.connected_at);
        if established.as_ref().is_some_and(is_same)
            && let Some(Established { connection, .. }) = established.take()
        {
            drop(Connection::take(connection));
        }
    }

    pub(crate) fn connected_at(&self) -> Instant {
        *self.connected_at
    }
}
