//! The connection pool of a node: several connections, each of which many calls share.
//!
//! Checking a connection out of a deadpool pool costs a round trip, a PING that tests the connection. So each is checked out once, and
//! calls get clones of it, which redis-rs multiplexes on one socket.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
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
    connections: Box<[Arc<SharedConnection>]>,
    next: AtomicUsize,
}

/// One connection of the pool: established, lost or not made yet.
#[derive(Default)]
struct SharedConnection {
    established: Mutex<Option<Established>>,
    connecting: SingleFlight,
    /// Whether it was established before.
    was_established: AtomicBool,
}

struct Established {
    connection: Connection,
    /// Each connection has its own `Arc`, whose pointer identifies it.
    activity: Arc<Activity>,
}

/// When a connection was made, and when it was last used.
struct Activity {
    connected_at: Instant,
    /// The time of the last reply, in microseconds after `connected_at`; 0 before the first one.
    last_reply: AtomicU64,
}

/// A handle to a connection, for one call.
pub(crate) struct ConnectionHandle {
    pub(crate) connection: MultiplexedConnection,
    shared: Arc<SharedConnection>,
    activity: Arc<Activity>,
}

impl ConnectionPool {
    pub(crate) fn new(connector: Connector, size: usize) -> Self {
        Self {
            connector: Arc::new(connector),
            connections: (0..size).map(|_| Arc::default()).collect(),
            next: AtomicUsize::new(0),
        }
    }

    /// The next connection, round-robin. While that is being made, another one is returned; a call waits only if there is none.
    pub(crate) async fn get(&self) -> Result<ConnectionHandle, RedisError> {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.connections.len();
        let shared = &self.connections[next];
        if let Some(handle) = shared.handle() {
            return Ok(handle);
        }
        let connecting = shared.connect(&self.connector);
        if let Some(handle) = self.connections.iter().find_map(SharedConnection::handle) {
            return Ok(handle);
        }
        connecting.wait().await?;
        let lost = || RedisError::from((ErrorKind::Io, "the connection was lost as soon as it was made"));
        shared.handle().ok_or_else(lost)
    }

    /// Discards the connections without a reply since this time.
    pub(crate) fn invalidate_silent(&self, since: Instant) {
        let connections = self.connections.iter().filter_map(SharedConnection::handle);
        let silent = connections.filter(|connection| !connection.has_replied_since(since));
        silent.for_each(|connection| connection.invalidate());
    }
}

impl SharedConnection {
    fn established(&self) -> MutexGuard<'_, Option<Established>> {
        self.established.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(self: &Arc<Self>) -> Option<ConnectionHandle> {
        self.established().as_ref().map(|established| ConnectionHandle {
            connection: (*established.connection).clone(),
            shared: Arc::clone(self),
            activity: Arc::clone(&established.activity),
        })
    }

    /// Joins the running connection attempt, or starts one.
    fn connect(self: &Arc<Self>, connector: &Arc<Connector>) -> Flight {
        let (shared, connector) = (Arc::clone(self), Arc::clone(connector));
        self.connecting.join(async move {
            // Another attempt may have succeeded since the caller looked.
            if shared.established().is_some() {
                return Ok(());
            }
            let connection = connector.connect().await?;
            let activity = Arc::new(Activity {
                connected_at: Instant::now(),
                last_reply: AtomicU64::new(0),
            });
            *shared.established() = Some(Established { connection, activity });
            if shared.was_established.swap(true, Ordering::AcqRel) {
                connector.reconnects().increment();
            }
            Ok(())
        })
    }
}

impl ConnectionHandle {
    /// Discards this connection, unless it has already been replaced. Calls in flight on it are completed.
    pub(crate) fn invalidate(&self) {
        let mut established = self.shared.established();
        let is_same = |current: &Established| Arc::ptr_eq(&current.activity, &self.activity);
        if established.as_ref().is_some_and(is_same)
            && let Some(Established { connection, .. }) = established.take()
        {
            drop(Connection::take(connection));
        }
    }

    pub(crate) fn connected_at(&self) -> Instant {
        self.activity.connected_at
    }

    /// Records a reply.
    pub(crate) fn on_reply(&self) {
        let elapsed = self.activity.connected_at.elapsed().as_micros() as u64;
        self.activity.last_reply.store(elapsed, Ordering::Relaxed);
    }

    /// Whether a reply arrived after this time.
    pub(crate) fn has_replied_since(&self, time: Instant) -> bool {
        let last_reply = Duration::from_micros(self.activity.last_reply.load(Ordering::Relaxed));
        self.activity.connected_at + last_reply > time
    }
}
