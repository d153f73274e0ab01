//! The store itself.

use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    sync::Arc,
};

use super::{
    super::{Store, sealed::Sealed},
    group,
    shards::Shards,
};
use crate::{
    algorithm::State, charge::Charges, clock::Clock, decision::Decision, key::Key, limit::Limit, operation::Operation,
    quota::Cost, verdict::Verdict,
};

/// Keeps state in this process. Clones share it.
///
/// It holds a bounded number of keys, a million unless told otherwise. State that has lapsed is swept as traffic comes
/// by; when there is no more room, the key nearest to fresh is forgotten first.
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
    /// How many keys it holds, lapsed ones that nobody has swept yet included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it holds no key at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it remembers of a key, for a look from outside.
    pub fn state(&self, limit: &Limit, key: &Key) -> Option<State> {
        let hash = self.0.hash(limit, key);
        self.0.lock(self.0.shard_index(hash)).state(hash, limit, key).cloned()
    }

    /// Charges one key at once: for code that is not asynchronous, and for loops where every nanosecond counts. What it
    /// has charged cannot be given back; [`apply`](Store::apply) makes receipts, and charges several keys all or none.
    ///
    /// ```
    /// use tollgate::{Key, Limit, MemoryStore, Quota, TokenBucket};
    ///
    /// let store = MemoryStore::new();
    /// let limit = Limit::new("lines", TokenBucket::new(Quota::per_second(2)));
    /// let key = Key::new("module:net");
    /// let passed = (0..10).filter(|_| store.acquire(&limit, &key, 1).outcome().admits());
    /// assert_eq!(passed.count(), 2);
    /// ```
    pub fn acquire(&self, limit: &Limit, key: &Key, cost: Cost) -> Verdict {
        let now = self.0.clock.now();
        self.0.decide(limit, key, cost, now).0
    }
}

impl Sealed for MemoryStore {}

impl Store for MemoryStore {
    type Error = Infallible;
    type Future = Ready<Result<Decision, Infallible>>;

    fn apply(&self, operation: Operation) -> Self::Future {
        ready(Ok(group::apply(&self.0, operation)))
    }

    fn acquire_now(&self, charges: Charges) -> Result<Decision, Charges> {
        Ok(group::acquire(&self.0, charges))
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
