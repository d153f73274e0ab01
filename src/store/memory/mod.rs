//! The store for one process: sharded, bounded, and never in need of a thread of its own.
//!
//! A key's hash picks its shard; a group of charges locks the shards it needs, always in ascending order, so that
//! all-or-none over several shards cannot deadlock.

mod group;
mod shard;

use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    hash::BuildHasher,
    sync::{Arc, Mutex, PoisonError},
};

use foldhash::quality::RandomState;

use self::shard::Shard;
use super::Store;
use crate::{
    algorithm::State,
    clock::Clock,
    decision::Decision,
    invalid::{self, Invalid},
    key::Key,
    limit::Limit,
    operation::Operation,
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
pub struct MemoryStore(Arc<Shards>);

struct Shards {
    clock: Clock,
    hasher: RandomState,
    shards: Box<[Mutex<Shard>]>,
}

impl MemoryStore {
    /// A store of up to a million keys on the system's clock.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A store with settings of its own.
    pub fn builder() -> MemoryStoreBuilder {
        MemoryStoreBuilder {
            max_keys: 1_000_000,
            clock: Clock::system(),
        }
    }

    /// How many keys it holds, lapsed ones that nobody has swept yet included.
    pub fn len(&self) -> usize {
        self.0.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// Whether it holds no key at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it remembers of a key, for a look from outside.
    pub fn state(&self, limit: &Limit, key: &Key) -> Option<State> {
        let hash = self.hash(limit, key);
        lock(self.shard(hash)).state(hash, limit, key).cloned()
    }

    fn hash(&self, limit: &Limit, key: &Key) -> u64 {
        self.0.hasher.hash_one((limit.shape(), key.as_str()))
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        &self.0.shards[self.shard_index(hash)]
    }

    /// Bits that the hash table does not look at: it takes the lowest for the place and the highest for the tag.
    fn shard_index(&self, hash: u64) -> usize {
        (hash >> 40) as usize % self.0.shards.len()
    }
}

/// Nothing that runs under the lock can panic half way, so a poisoned shard is as good as any.
fn lock(shard: &Mutex<Shard>) -> std::sync::MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for MemoryStore {
    type Error = Infallible;
    type Future = Ready<Result<Decision, Infallible>>;

    fn apply(&self, operation: Operation) -> Self::Future {
        ready(Ok(group::apply(self, operation)))
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

/// Settings of a [`MemoryStore`].
#[derive(Clone, Debug)]
pub struct MemoryStoreBuilder {
    max_keys: usize,
    clock: Clock,
}

impl MemoryStoreBuilder {
    /// The most keys it holds; a million by default. It bounds keys, not bytes: a full log takes eight an entry.
    ///
    /// The bound is shared out among up to 64 shards, so a large store may begin to forget a little before it is full.
    /// It should hold the tiers of one request at the very least, or a request forgets what it has just charged.
    ///
    /// # Panics
    /// When it is 0.
    #[must_use]
    #[track_caller]
    pub fn max_keys(self, max_keys: usize) -> Self {
        invalid::expect(self.try_max_keys(max_keys))
    }

    /// The most keys it holds, or an error when that is 0.
    pub fn try_max_keys(self, max_keys: usize) -> Result<Self, Invalid> {
        match max_keys {
            0 => Err(Invalid::new("max_keys", max_keys, "be at least 1")),
            _ => Ok(Self { max_keys, ..self }),
        }
    }

    /// The clock it goes by: a [`ManualClock`](crate::ManualClock) lets a test say what time it is.
    #[must_use]
    pub fn clock(self, clock: impl Into<Clock>) -> Self {
        Self {
            clock: clock.into(),
            ..self
        }
    }

    /// The store.
    pub fn build(self) -> MemoryStore {
        // A shard of fewer than 1024 keys would make the bound uneven for no gain.
        let shards = (self.max_keys / 1024).clamp(1, 64);
        let most = self.max_keys / shards;
        MemoryStore(Arc::new(Shards {
            clock: self.clock,
            hasher: RandomState::default(),
            shards: (0..shards).map(|_| Mutex::new(Shard::new(most))).collect(),
        }))
    }
}
