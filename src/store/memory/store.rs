//! The memory store's public API.

use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    sync::Arc,
};

use super::{super::Store, locked_shards, shards::Shards};
use crate::{
    algorithm::State, charge::Charges, clock::Clock, decision::Decision, key::Key, limit::Limit, operation::Operation,
    quota::Cost, verdict::Verdict,
};

/// A store in this process's memory. Clones share the state.
///
/// The number of keys is bounded, by default to a million. Every operation sweeps some expired state; a full store evicts the
/// key that expires next, but none that a concurrency limit holds.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{ManualClock, MemoryStore};
///
/// let clock = ManualClock::at(0);
/// let store = MemoryStore::builder().max_keys(10_000).clock(clock.clone()).build();
/// assert!(store.is_empty());
/// ```
#[derive(Clone)]
pub struct MemoryStore(pub(super) Arc<Shards>);

impl MemoryStore {
    /// The number of keys, including expired ones that are not swept yet.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it holds no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state of a key, for inspection.
    pub fn state(&self, limit: &Limit, key: &Key) -> Option<State> {
        let hash = self.0.hash(limit, key);
        self.0.lock(self.0.shard_index(hash)).state(hash, limit, key).cloned()
    }

    /// Charges one key synchronously, for code that is not asynchronous and for hot loops. The charge cannot be refunded, so slots of a
    /// concurrency limit would be held for ever: [`apply`](Store::apply) returns receipts, and charges several keys all or none.
    ///
    /// ```
    /// use tollgate::{Key, Limit, MemoryStore, Quota, TokenBucket};
    ///
    /// let store = MemoryStore::new();
    /// let limit = Limit::new("lines", TokenBucket::new(Quota::per_second(2)));
    /// let key = Key::new("module:net");
    /// let admitted = (0..10).filter(|_| store.acquire(&limit, &key, 1).outcome().admits());
    /// assert_eq!(admitted.count(), 2);
    /// ```
    pub fn acquire(&self, limit: &Limit, key: &Key, cost: Cost) -> Verdict {
        let now = self.0.clock.now();
        self.0.decide(limit, key, cost, now).0
    }
}

impl Store for MemoryStore {
    type Error = Infallible;
    type Future = Ready<Result<Decision, Infallible>>;

    fn apply(&self, operation: Operation) -> Self::Future {
        ready(Ok(locked_shards::apply(&self.0, operation)))
    }

    #[inline]
    fn acquire_now(&self, charges: Charges) -> Result<Decision, Charges> {
        Ok(locked_shards::acquire(&self.0, charges))
    }

    fn clock(&self) -> &Clock {
        &self.0.clock
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("keys", &self.len())
            .field("clock", &self.0.clock)
            .finish()
    }
}
