//! The store for one process: sharded, bounded, and never in need of a thread of its own.
//!
//! A key's hash picks its shard (`shard`), which keeps it in a heap with an index (`entries`). A group of charges
//! (`group`) locks the shards it needs, always in ascending order, so that all-or-none over several shards cannot
//! deadlock.

mod entries;
mod group;
mod shard;

use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    hint,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
};

use foldhash::quality::RandomState;

use self::shard::Shard;
use super::Store;
use crate::{
    algorithm::{Mark, State},
    charge::Charges,
    clock::Clock,
    decision::Decision,
    invalid::{self, Invalid},
    key::Key,
    limit::Limit,
    measure,
    operation::Operation,
    quota::Cost,
    time::Micros,
    verdict::Verdict,
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
    shards: Box<[Locked]>,
}

/// Has its cache lines to itself: what happens next door is other threads' business.
#[repr(align(128))]
struct Locked(Mutex<Shard>);

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
            sweeps: true,
        }
    }

    /// How many keys it holds, lapsed ones that nobody has swept yet included.
    pub fn len(&self) -> usize {
        (0..self.0.shards.len()).map(|index| self.lock(index).len()).sum()
    }

    /// Whether it holds no key at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it remembers of a key, for a look from outside.
    pub fn state(&self, limit: &Limit, key: &Key) -> Option<State> {
        let hash = self.hash(limit, key);
        self.lock(self.shard_index(hash)).state(hash, limit, key).cloned()
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
        self.decide(limit, key, cost, now).0
    }

    /// One charge, as most requests have: one lock and one look-up will do.
    fn decide(&self, limit: &Limit, key: &Key, cost: Cost, now: Micros) -> (Verdict, Option<Mark>) {
        let hash = self.hash(limit, key);
        let mut shard = self.lock(self.shard_index(hash));
        let before = shard.len();
        let decided = shard.acquire(hash, limit, key, cost, now);
        shard.sweep(now);
        let after = shard.len();
        drop(shard);
        measure::memory_keys(before, after);
        decided
    }

    fn hash(&self, limit: &Limit, key: &Key) -> u64 {
        entries::hash(&self.0.hasher, limit, key)
    }

    /// By bits that the hash table does not look at: it takes the lowest for the place and the highest for the tag. They
    /// are read as a fraction of all shards, which takes no division.
    fn shard_index(&self, hash: u64) -> usize {
        let fraction = u64::from((hash >> 25) as u32);
        ((fraction * self.0.shards.len() as u64) >> 32) as usize
    }

    /// A shard is locked for some arithmetic. Who finds it locked looks away for longer than that takes: threads that
    /// keep reaching for one lock hold each other up.
    fn lock(&self, index: usize) -> MutexGuard<'_, Shard> {
        const LOOKS: usize = 50;
        const PAUSES: usize = 32;
        let Locked(shard) = &self.0.shards[index];
        for _ in 0..LOOKS {
            match shard.try_lock() {
                Ok(shard) => return shard,
                // Nothing that runs under the lock can panic half way, so a poisoned shard is as good as any.
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => (0..PAUSES).for_each(|_| hint::spin_loop()),
            }
        }
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// With the last clone of a store, its keys are gone.
impl Drop for Shards {
    fn drop(&mut self) {
        let shards = self.shards.iter_mut().map(|Locked(shard)| shard.get_mut());
        let held = shards.map(|shard| shard.unwrap_or_else(PoisonError::into_inner).len());
        measure::memory_keys(held.sum(), 0);
    }
}

impl Store for MemoryStore {
    type Error = Infallible;
    type Future = Ready<Result<Decision, Infallible>>;

    fn apply(&self, operation: Operation) -> Self::Future {
        ready(Ok(group::apply(self, operation)))
    }

    fn acquire_now(&self, charges: Charges) -> Result<Decision, Charges> {
        Ok(group::acquire(self, charges))
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
    sweeps: bool,
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

    /// Does not sweep state that has lapsed, which takes memory for every key that there ever was, up to
    /// [`max_keys`](Self::max_keys).
    ///
    /// It is for replays on a [`ManualClock`](crate::ManualClock) that may go back: what had lapsed then counts again, as it does
    /// in Redis.
    #[must_use]
    pub fn keep_lapsed(self) -> Self {
        Self { sweeps: false, ..self }
    }

    /// The store.
    pub fn build(self) -> MemoryStore {
        measure::describe();
        // A shard of fewer than 1024 keys would make the bound uneven for no gain.
        let shards = (self.max_keys / 1024).clamp(1, 64);
        let most = self.max_keys / shards;
        let hasher = RandomState::default();
        MemoryStore(Arc::new(Shards {
            clock: self.clock,
            shards: (0..shards)
                .map(|_| Locked(Mutex::new(Shard::new(most, self.sweeps, hasher.clone()))))
                .collect(),
            hasher,
        }))
    }
}
