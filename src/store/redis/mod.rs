//! The store that many processes share: one Lua program, run atomically, on Redis's own clock.
//!
//! An operation becomes one EVALSHA (`call`), travels over a connection that is shared and never checked out per
//! request (`lanes`, each a `lane`), runs the program that is assembled from `lua/` (`program`), and its reply becomes a
//! [`Decision`] (`reply`).

mod builder;
mod call;
mod error;
mod lane;
mod lanes;
mod program;
mod reply;

use std::{fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

pub use self::{builder::RedisStoreBuilder, error::StoreError};
use self::{call::Prefix, lanes::Lanes};
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
        self.0.lanes.run(program::load(), PATIENCE).await?;
        let mut charges = Charges::new();
        // Between them, a string and a list need every command that the program knows.
        for rule in [FixedWindow::new(CHECK).rule(), SlidingLog::new(CHECK).rule()] {
            let limit = Limit::new("tollgate.check", rule);
            let charge = Charge::new(limit, Key::new("check")).cost(2);
            charges.push(charge).expect("two algorithms never share a key");
        }
        let mut decision = self.decide(Operation::Acquire(charges.clone()), PATIENCE).await?;
        if let Some(receipt) = decision.take_receipt() {
            self.decide(Operation::Settle(receipt.settled(1)), PATIENCE).await?;
        }
        self.decide(Operation::Reset(charges), PATIENCE).await?;
        Ok(())
    }

    async fn decide(&self, operation: Operation, deadline: Duration) -> Result<Decision, StoreError> {
        let shared = &*self.0;
        if operation.charges().next().is_none() {
            return Ok(Decision::exempt(shared.clock.now()));
        }
        let now = shared.named_time.then(|| shared.clock.now());
        let command = call::encode(&operation, &shared.prefix, now);
        let (answer, line) = shared.lanes.run(command, deadline).await?;
        // An answer that makes no sense may be another call's: the line is out of step.
        reply::decode(answer, operation, &shared.prefix).inspect_err(|_| line.retire())
    }
}

impl Store for RedisStore {
    type Error = StoreError;
    type Future = Pin<Box<dyn Future<Output = Result<Decision, StoreError>> + Send>>;

    fn apply(&self, operation: Operation) -> Self::Future {
        let store = self.clone();
        Box::pin(async move { store.decide(operation, store.0.deadline).await })
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
