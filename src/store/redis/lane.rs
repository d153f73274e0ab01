//! Lanes: a few pooled connections, each shared by many calls, let go of only to be replaced.
//!
//! Checking a connection out of a pool costs a round trip of its own, a PING to see that it still lives. A lane checks
//! one out once and hands out clones; redis-rs sends what they are given over the one socket, side by side.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use deadpool_redis::{
    Connection, Pool, PoolError,
    redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value, aio::MultiplexedConnection, cmd},
};
use tokio::sync::watch;

use super::{error::StoreError, program};

pub(super) struct Lanes {
    address: Arc<str>,
    pool: Pool,
    lanes: Box<[Arc<Lane>]>,
    next: AtomicUsize,
}

#[derive(Default)]
struct Lane(Mutex<Link>);

#[derive(Default)]
enum Link {
    #[default]
    Down,
    /// A task is connecting; everybody waits for what it finds. When its runtime ends before it does, the channel
    /// closes and the lane counts as down.
    Connecting(watch::Receiver<Outcome>),
    Up(Connection, Serial),
}

/// Tells a lane's connections apart.
type Serial = Arc<()>;
type Outcome = Option<Result<(MultiplexedConnection, Serial), StoreError>>;

impl Lane {
    fn link(&self) -> MutexGuard<'_, Link> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Runs a command within the deadline, connecting included. One that may have been sent is never sent again.
    pub(super) async fn run(&self, command: &Cmd, deadline: Duration) -> Result<Value, StoreError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let lane = &self.lanes[turn % self.lanes.len()];
        let mut used = None;
        let answer = tokio::time::timeout(deadline, async {
            let (mut connection, serial) = self.connection(lane).await?;
            used = Some(serial);
            let answer = run_program(command, &mut connection).await;
            answer.map_err(|error| (is_lost(&error), StoreError::of(&self.address, error)))
        });
        let (lost, error) = match answer.await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(failed)) => failed,
            // Silence may be a half-open socket, which nothing but a new one heals.
            Err(_) => {
                let address = Arc::clone(&self.address);
                (true, StoreError::Deadline { address, deadline })
            }
        };
        if let (true, Some(serial)) = (lost, used) {
            retire(lane, &serial);
        }
        Err(error)
    }

    async fn connection(&self, lane: &Arc<Lane>) -> Result<(MultiplexedConnection, Serial), (bool, StoreError)> {
        let mut connecting = match &mut *lane.link() {
            Link::Up(connection, serial) => return Ok(((**connection).clone(), Arc::clone(serial))),
            Link::Connecting(connecting) if connecting.has_changed().is_ok() => connecting.clone(),
            link => {
                let (found, connecting) = watch::channel(None);
                *link = Link::Connecting(connecting.clone());
                let (lane, pool, address) = (Arc::clone(lane), self.pool.clone(), Arc::clone(&self.address));
                // A task of its own: the request that began it may give up before it is done.
                tokio::spawn(connect(lane, pool, address, found));
                connecting
            }
        };
        let found = connecting.wait_for(Option::is_some).await;
        let abandoned = || {
            let gone = RedisError::from((ErrorKind::Io, "connecting was abandoned"));
            Err(StoreError::of(&self.address, gone))
        };
        let found = found.map_or(None, |found| found.clone());
        found.unwrap_or_else(abandoned).map_err(|error| (false, error))
    }
}

async fn connect(lane: Arc<Lane>, pool: Pool, address: Arc<str>, found: watch::Sender<Outcome>) {
    let connected = pool.get().await;
    let outcome = match connected {
        Ok(connection) => {
            let serial = Serial::default();
            let clone = (*connection).clone();
            *lane.link() = Link::Up(connection, Arc::clone(&serial));
            Ok((clone, serial))
        }
        Err(error) => {
            *lane.link() = Link::Down;
            let error = match error {
                PoolError::Backend(error) => error,
                other => RedisError::from((ErrorKind::Io, "the pool gave no connection", other.to_string())),
            };
            Err(StoreError::of(&address, error))
        }
    };
    found.send_replace(Some(outcome));
}

/// Lets go of a connection for good, unless it has been replaced already.
fn retire(lane: &Lane, serial: &Serial) {
    let mut link = lane.link();
    if matches!(&*link, Link::Up(_, current) if Arc::ptr_eq(current, serial))
        && let Link::Up(connection, _) = std::mem::take(&mut *link)
    {
        drop(Connection::take(connection));
    }
}

/// Runs the program; loads it first where Redis has never seen it or has forgotten it, which it says before it does
/// anything.
async fn run_program(command: &Cmd, connection: &mut MultiplexedConnection) -> Result<Value, RedisError> {
    match command.query_async(connection).await {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            let mut load = cmd("SCRIPT");
            load.arg("LOAD")
                .arg(program::source())
                .query_async::<()>(connection)
                .await?;
            command.query_async(connection).await
        }
        answer => answer,
    }
}

/// Whether the connection is at fault, or leads to a Redis that has become a replica.
fn is_lost(error: &RedisError) -> bool {
    let replica = error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly);
    error.is_io_error() || error.is_unrecoverable_error() || replica
}
