//! All shards of a store: which one a key is in, and how it is locked.

use std::{
    hint,
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
};

use foldhash::quality::RandomState;

use super::{entries, shard::Shard};
use crate::{
    algorithm::Mark, clock::Clock, key::Key, limit::Limit, measure, quota::Cost, time::Micros, verdict::Verdict,
};

/// The shards of a store, and what picks one.
pub(super) struct Shards {
    pub(super) clock: Clock,
    hasher: RandomState,
    shards: Box<[Locked]>,
}

/// Has its cache lines to itself: what happens next door is other threads' business.
#[repr(align(128))]
struct Locked(Mutex<Shard>);

impl Shards {
    pub(super) fn new(max_keys: usize, sweeps: bool, clock: Clock) -> Self {
        // A shard of fewer than 1024 keys would make the bound uneven for no gain.
        let shards = (max_keys / 1024).clamp(1, 64);
        let most = max_keys / shards;
        let hasher = RandomState::default();
        let shard = |_| Locked(Mutex::new(Shard::new(most, sweeps, hasher.clone())));
        Self {
            clock,
            shards: (0..shards).map(shard).collect(),
            hasher,
        }
    }

    /// How many keys are in all of them.
    pub(super) fn len(&self) -> usize {
        (0..self.shards.len()).map(|index| self.lock(index).len()).sum()
    }

    /// One charge, as most requests have: one lock and one look-up will do.
    pub(super) fn decide(&self, limit: &Limit, key: &Key, cost: Cost, now: Micros) -> (Verdict, Option<Mark>) {
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

    pub(super) fn hash(&self, limit: &Limit, key: &Key) -> u64 {
        entries::hash(&self.hasher, limit, key)
    }

    /// By bits that the hash table does not look at: it takes the lowest for the place and the highest for the tag. They
    /// are read as a fraction of all shards, which takes no division.
    pub(super) fn shard_index(&self, hash: u64) -> usize {
        let fraction = u64::from((hash >> 25) as u32);
        ((fraction * self.shards.len() as u64) >> 32) as usize
    }

    /// A shard is locked for some arithmetic. Who finds it locked looks away for longer than that takes: threads that
    /// keep reaching for one lock hold each other up.
    pub(super) fn lock(&self, index: usize) -> MutexGuard<'_, Shard> {
        const LOOKS: usize = 50;
        const PAUSES: usize = 32;
        let Locked(shard) = &self.shards[index];
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{algorithm::TokenBucket, quota::Quota};

    /// Whoever has found keys that collide in one process has found nothing about another.
    #[test]
    fn no_two_stores_hash_alike() {
        let limit = Limit::new("user", TokenBucket::new(Quota::per_second(1)));
        let key = Key::new("key");
        let stores = (0..100).map(|_| Shards::new(1, true, Clock::system()));
        let hashes: HashSet<u64> = stores.map(|store| store.hash(&limit, &key)).collect();
        assert_eq!(hashes.len(), 100);
    }
}
