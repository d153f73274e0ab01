//! The store that many processes share: one Lua program, run atomically, on Redis's own clock.
//!
//! A request becomes a decision by way of three floors, each of which knows only those below:
//!
//! - `requests`: who waits, who leaves together, for whom, and what is done when that fails;
//! - `servers`: the connections to one Redis, to the primary that sentinels name, or to the nodes of a cluster;
//! - `wire`: what is said to Redis and what it says, by the program in `lua/`.
//!
//! `builder` and `address` read the settings, `check` tries them at start-up, `health` and `error` tell what is wrong.

mod address;
mod builder;
mod check;
mod error;
mod health;
mod requests;
mod servers;
mod wire;

use std::{fmt, sync::Arc, time::Duration};

pub use self::{
    builder::RedisStoreBuilder,
    error::StoreError,
    health::{Health, ServerHealth},
    requests::RedisDecision,
};
use self::{
    requests::{Denied, Queues},
    servers::{Servers, Slot},
    wire::Prefix,
};
use super::Store;
use crate::{charge::Charge, clock::Clock, operation::Operation};

/// Keeps state in Redis, for every process that shares it. Clones share its connections.
///
/// It connects when it is first used, and again when a connection is lost. A call that takes longer than the deadline
/// in all, 100 ms unless told otherwise, is an error; whether it was charged is then unknown, and it is not sent again.
/// A connection lives on the runtime that made it: when that has ended, the first call or two from another one fail.
///
/// A Redis that fails three of ten calls is not asked any more, and nobody waits for it: the error says so at once. A task
/// finds out when it is back, within a second. [`health`](Self::health) tells how it stands. What becomes of requests
/// meanwhile is for their [layer](crate::RateLimitLayer#when-the-store-fails) to say.
///
/// One Redis, a primary that [sentinels](RedisStoreBuilder::sentinels) watch, or a [cluster](RedisStoreBuilder::cluster).
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

pub(crate) struct Shared {
    servers: Servers,
    queues: Queues,
    /// How many connections each of them has.
    lanes: usize,
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
        check::check(&self.0).await
    }

    /// What is known of the Redis that it asks.
    pub fn health(&self) -> Health {
        Health::of(&self.0.servers.breakers())
    }
}

impl Shared {
    fn slot(&self, charge: &Charge) -> Slot {
        self.servers.slot(|| self.prefix.key(charge))
    }

    /// The slot of everything that an operation is about, if there is only one.
    fn slot_of_all(&self, operation: &Operation) -> Option<Slot> {
        let mut slots = operation.charges().map(|charge| self.slot(charge));
        let first = slots.next()?;
        slots.all(|slot| slot == first).then_some(first)
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
            .field("address", &self.0.servers.address())
            .field("prefix", &self.0.prefix)
            .field("deadline", &self.0.deadline)
            .finish_non_exhaustive()
    }
}
