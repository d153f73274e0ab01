//! The shards of a store: selecting and locking one by a key's hash.

use std::{
    hint,
    sync::{Mutex, MutexGuard, PoisonError, TryLockError},
    time::{Duration, Instant},
};

use foldhash::quality::RandomState;

use super::{indexed_heap, shard::Shard};
use crate::{
    algorithm::Mark, clock::Clock, key::Key, limit::Limit, metrics, quota::Cost, receipt::Charged, time::Micros,
    verdict::Verdict,
};

/// All shards of a store, with their clock and hasher.
pub(super) struct Shards {
    pub(super) clock: Clock,
    hasher: RandomState,
    shards: Box<[PaddedShard]>,
}

/// Aligned to two cache lines, against false sharing between threads.
#[repr(align(128))]
struct PaddedShard(Mutex<Shard>);

impl Shards {
    pub(super) fn new(max_keys: usize, sweeps: bool, clock: Clock) -> Self {
        // With fewer than 1024 keys per shard, the bound would be uneven without a gain in speed.
        let shards = (max_keys / 1024).clamp(1, 64);
        let max_keys = max_keys / shards;
        let hasher = RandomState::default();
        let shard = |_| PaddedShard(Mutex::new(Shard::new(max_keys, sweeps, hasher.clone())));
        Self {
            clock,
            shards: (0..shards).map(shard).collect(),
            hasher,
        }
    }

    /// The number of keys in all shards.
    pub(super) fn len(&self) -> usize {
        (0..self.shards.len()).map(|index| self.lock(index).len()).sum()
    }

    /// Acquires a single charge, with one lock and one lookup.
    #[inline(always)]
    pub(super) fn decide(&self, limit: &Limit, key: &Key, cost: Cost, now: Micros) -> (Verdict, Option<Mark>) {
        let hash = self.hash(limit, key);
        let mut shard = self.lock(self.shard_index(hash));
        let before = shard.len();
        let decided = shard.acquire(hash, limit, key, cost, now);
        shard.sweep(now);
        let after = shard.len();
        drop(shard);
        metrics::memory_keys(before, after);
        decided
    }

    /// Settles a single charge, with one lock and one lookup. Returns the verdict about a cost of 0.
    pub(super) fn settle(&self, charged: &Charged, now: Micros) -> Verdict {
        let (limit, key) = (&charged.charge.limit, &charged.charge.key);
        let hash = self.hash(limit, key);
        let mut shard = self.lock(self.shard_index(hash));
        let before = shard.len();
        let verdict = shard.settle(hash, charged, now);
        shard.sweep(now);
        let after = shard.len();
        drop(shard);
        metrics::memory_keys(before, after);
        verdict
    }

    #[inline]
    pub(super) fn hash(&self, limit: &Limit, key: &Key) -> u64 {
        indexed_heap::hash(&self.hasher, limit, key)
    }

    /// Uses bits of the hash that the hash table ignores: it takes the lowest for the bucket and the highest for the tag. They
    /// are scaled to the number of shards by a multiplication, which is faster than a division.
    #[inline]
    pub(super) fn shard_index(&self, hash: u64) -> usize {
        let fraction = u64::from((hash >> 25) as u32);
        ((fraction * self.shards.len() as u64) >> 32) as usize
    }

    #[inline]
    pub(super) fn lock(&self, index: usize) -> MutexGuard<'_, Shard> {
        let PaddedShard(shard) = &self.shards[index];
        try_lock(shard).unwrap_or_else(|| lock_contended(shard))
    }
}

#[inline]
fn try_lock(shard: &Mutex<Shard>) -> Option<MutexGuard<'_, Shard>> {
    match shard.try_lock() {
        Ok(shard) => Some(shard),
        // No code under the lock panics halfway through an update, so a poisoned shard is consistent.
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Spins with a backoff before it blocks: a shard is locked only for some arithmetic. Each attempt takes the lock's cache line from the
/// thread that holds it, so threads that retry at once slow each other down. The backoff is a time, since the pause of a CPU takes from 10
/// to 140 cycles.
#[cold]
fn lock_contended(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    const MAX_SPINS: usize = 16;
    const BACKOFF: Duration = Duration::from_micros(2);
    for _ in 0..MAX_SPINS {
        let start = Instant::now();
        while start.elapsed() < BACKOFF {
            hint::spin_loop();
        }
        if let Some(shard) = try_lock(shard) {
            return shard;
        }
    }
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Subtracts the keys of a dropped store from the metric.
impl Drop for Shards {
    fn drop(&mut self) {
        let shards = self.shards.iter_mut().map(|PaddedShard(shard)| shard.get_mut());
        let keys = shards.map(|shard| shard.unwrap_or_else(PoisonError::into_inner).len());
        metrics::memory_keys(keys.sum(), 0);
    }
}

#[cfg(test)]
mod tests;
