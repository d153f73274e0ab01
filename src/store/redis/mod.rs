//! The store that many processes share: one Lua program, run atomically, on Redis's own clock.
//!
//! A request's way (`future`): if its key is known to be spent, it is told so at once (`denied`). Else it waits while
//! calls are in flight (`queue`), and leaves with those who wait beside it (`batch`, `send`) as one EVALSHA (`call`,
//! `packed`), over a connection that is shared and never checked out per request (`lanes`, each a `lane`). Redis runs
//! the program that is assembled from `lua/` (`program`), and its reply becomes their decisions (`reply`).

mod batch;
mod builder;
mod call;
mod denied;
mod error;
mod future;
mod lane;
mod lanes;
mod packed;
mod program;
mod queue;
mod reply;
mod send;

use std::{fmt, sync::Arc, time::Duration};

use tokio::time::timeout;

use self::{
    batch::Batch,
    call::Prefix,
    denied::Denied,
    lanes::Lanes,
    queue::{Queue, Request},
};
pub use self::{builder::RedisStoreBuilder, error::StoreError, future::RedisDecision};
use super::Store;
use crate::{
    algorithm::{Algorithm, FixedWindow, SlidingLog},
    charge::{Charge, Charges},
    clock::Clock,
    decision::Decision,
    key::Key,
    limit::Limit,
    operation::Operation,
    quota::Quota,
};

/// What [`RedisStore::check`] charges: so much that processes which start together do not get in each other's way.
const CHECK: Quota = Quota::per_second(10_000);

/// How long [`RedisStore::check`] waits: it runs at start-up, when a first connection may take its time.
const PATIENCE: Duration = Duration::from_secs(5);

/// Keeps state in Redis, for every process that shares it. Clones share its connections.
///
/// It connects when it is first used, and again when a connection is lost. A call that takes longer than the deadline
/// in all, 100 ms unless told otherwise, is an error; whether it was charged is then unknown, and it is not sent again.
/// A connection lives on the runtime that made it: when that has ended, the first call or two from another one fail.
///
/// Redis 6.2 or later, or Valkey. Give it `maxmemory-policy noeviction` or `volatile-ttl`: a key that is evicted is a
/// limit that starts over.
///
/// ```no_run
/// use tollgate::RedisStore;
///
/// # async fn start() -> Result<(), tollgate::StoreError> {
/// let store = RedisStore::connect("redis://127.0.0.1:6379")?;
/// store.check().await?; // says at start-up what is wrong, not at 3 a.m.
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisStore(Arc<Shared>);

struct Shared {
    lanes: Lanes,
    queue: Queue,
    /// Unless refusals are not to be repeated, as on a clock that does not go with the time.
    denied: Option<Denied>,
    prefix: Prefix,
    deadline: Duration,
    clock: Clock,
    /// Whether calls name the time by that clock. Otherwise Redis goes by its own.
    named_time: bool,
}

impl RedisStore {
    /// A store at a `redis://` (or, with feature `tls`, `rediss://`) address, with everything else by default.
    ///
    /// It does not connect yet: a wrong address is an error here, a Redis that is not there is one of
    /// [`check`](Self::check).
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        Self::builder().url(url).build()
    }

    /// A store with settings of its own.
    pub fn builder() -> RedisStoreBuilder {
        RedisStoreBuilder::new()
    }

    /// Charges limits of its own, corrects the charge and forgets it, so that whatever would fail later fails now, in
    /// clear words.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.load().await?;
        let mut charges = Charges::new();
        // Between them, a string and a list need every command that the program knows.
        for rule in [FixedWindow::new(CHECK).rule(), SlidingLog::new(CHECK).rule()] {
            let limit = Limit::new("tollgate.check", rule);
            let charge = Charge::new(limit, Key::new("check")).cost(2);
            charges.push(charge).expect("two algorithms never share a key");
        }
        let mut decision = self.ask(Operation::Acquire(charges.clone())).await?;
        if let Some(receipt) = decision.take_receipt() {
            self.ask(Operation::Settle(receipt.settled(1))).await?;
        }
        self.ask(Operation::Reset(charges)).await?;
        Ok(())
    }

    async fn load(&self) -> Result<(), StoreError> {
        let address = self.0.lanes.address();
        let loaded = timeout(PATIENCE, async {
            let mut connection = self.0.lanes.line().await?.connection.clone();
            let loaded = program::load().query_async::<()>(&mut connection).await;
            loaded.map_err(|error| StoreError::after_sending(address, error))
        });
        loaded
            .await
            .unwrap_or_else(|_| Err(StoreError::late(address, PATIENCE, true)))
    }

    /// Asks with more patience than a request has, and alone.
    async fn ask(&self, operation: Operation) -> Result<Decision, StoreError> {
        let (request, answer) = Request::new(operation, PATIENCE);
        send::send(&self.0, Batch::new(vec![request], self.0.lanes.address(), PATIENCE)).await;
        answer.await.expect("who is in a batch is answered")
    }
}

impl Store for RedisStore {
    type Error = StoreError;
    type Future = RedisDecision;

    fn apply(&self, operation: Operation) -> RedisDecision {
        RedisDecision::new(Arc::clone(&self.0), operation)
    }

    fn clock(&self) -> &Clock {
        &self.0.clock
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("address", &self.0.lanes.address())
            .field("prefix", &self.0.prefix)
            .field("deadline", &self.0.deadline)
            .finish_non_exhaustive()
    }
}
