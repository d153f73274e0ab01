//! The lanes together: which one a call takes, and how long it may take in all.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use deadpool_redis::{
    Pool,
    redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value, aio::MultiplexedConnection},
};
use tokio::{
    runtime::Handle,
    time::{Instant, timeout_at},
};

use super::{
    error::StoreError,
    lane::{Lane, Line},
    program,
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

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Runs a command within the deadline, connecting included. One that may have been sent is never sent again.
    ///
    /// The answer comes with the line it came over, to be retired if the answer makes no sense.
    pub(super) async fn run(&self, command: Cmd, deadline: Duration) -> Result<(Value, Line), StoreError> {
        if Handle::try_current().is_err() {
            let nowhere = RedisError::from((ErrorKind::Io, "there is no tokio runtime here"));
            return Err(StoreError::before_sending(&self.address, nowhere));
        }
        let (address, until) = (Arc::clone(&self.address), Instant::now() + deadline);
        let line = self.line(deadline, until).await?;
        // A task of its own: it hears of the answer, or of the silence, even when the caller has left by then.
        let call = tokio::spawn(async move {
            let mut connection = line.connection.clone();
            let error = match timeout_at(until, run_program(&command, &mut connection)).await {
                Ok(Ok(value)) => return Ok((value, line)),
                Ok(Err(error)) if !is_lost(&error) => return Err(StoreError::after_sending(&address, error)),
                Ok(Err(error)) => StoreError::after_sending(&address, error),
                // Silence may be a half-open socket, which nothing but a new one heals.
                Err(_) => StoreError::late(&address, deadline, true),
            };
            line.retire();
            Err(error)
        });
        call.await.unwrap_or_else(|_| {
            let ended = RedisError::from((ErrorKind::Io, "the runtime has ended"));
            Err(StoreError::after_sending(&self.address, ended))
        })
    }

    /// The next lane's connection. While that lane connects, any other will do; it is waited for only when there is
    /// none.
    async fn line(&self, deadline: Duration, until: Instant) -> Result<Line, StoreError> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % self.lanes.len();
        if let Some(line) = self.lanes[turn].line() {
            return Ok(line);
        }
        let mut found = self.lanes[turn].connect(&self.pool, &self.address);
        if let Some(line) = self.lanes.iter().find_map(Lane::line) {
            return Ok(line);
        }
        let outcome = match timeout_at(until, found.wait_for(Option::is_some)).await {
            Ok(Ok(found)) => found.clone(),
            Ok(Err(_)) => None,
            Err(_) => return Err(StoreError::late(&self.address, deadline, false)),
        };
        outcome.unwrap_or_else(|| {
            let ended = RedisError::from((ErrorKind::Io, "the runtime that was connecting has ended"));
            Err(StoreError::before_sending(&self.address, ended))
        })
    }
}

/// Runs the program; loads it first where Redis has never seen it or has forgotten it, which it says before it does
/// anything.
async fn run_program(command: &Cmd, connection: &mut MultiplexedConnection) -> Result<Value, RedisError> {
    match command.query_async(connection).await {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            program::load().query_async::<()>(connection).await?;
            command.query_async(connection).await
        }
        answer => answer,
    }
}

/// Whether the connection is at fault, or leads to a Redis that is not, or not yet, the one to ask.
fn is_lost(error: &RedisError) -> bool {
    let elsewhere = matches!(
        error.kind(),
        ErrorKind::Server(ServerErrorKind::ReadOnly | ServerErrorKind::MasterDown | ServerErrorKind::BusyLoading)
    );
    error.is_io_error() || error.is_unrecoverable_error() || elsewhere
}
