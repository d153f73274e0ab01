//! Applies an operation atomically: locks the shards of its keys.

use std::sync::MutexGuard;

use smallvec::SmallVec;

use super::{shard::Shard, shards::Shards};
use crate::{
    algorithm::{AnyAlgorithm, Mark, State},
    charge::{Charge, Charges},
    decision::{Decision, TierDecision},
    metrics,
    operation::Operation,
    quota::Cost,
    time::Micros,
    transaction::{self, TierStates},
    verdict::Verdict,
};

pub(super) fn apply(shards: &Shards, operation: Operation) -> Decision {
    match operation {
        Operation::Acquire(charges) => acquire(shards, charges),
        other => apply_locked(shards, other, shards.clock.now()),
    }
}

pub(super) fn acquire(shards: &Shards, charges: Charges) -> Decision {
    let now = shards.clock.now();
    match charges.into_one() {
        Ok(charge) => {
            let (verdict, mark) = shards.decide(&charge.limit, &charge.key, charge.cost, now);
            Decision::of_one(now, TierDecision { charge, verdict, mark })
        }
        Err(charges) => apply_locked(shards, Operation::Acquire(charges), now),
    }
}

fn apply_locked(shards: &Shards, operation: Operation, now: Micros) -> Decision {
    let mut locked = LockedShards::lock(shards, &operation);
    let before = locked.len();
    let decision = transaction::apply(&mut locked, operation, now);
    locked.shards.iter_mut().for_each(|shard| shard.sweep(now));
    let after = locked.len();
    drop(locked);
    metrics::memory_keys(before, after);
    decision
}

/// The locked shards of an operation, and the location of each of its charges.
struct LockedShards<'a> {
    shards: SmallVec<[MutexGuard<'a, Shard>; 3]>,
    locations: SmallVec<[Location; 3]>,
}

#[derive(Clone, Copy)]
struct Location {
    hash: u64,
    /// The index into the locked shards.
    shard: usize,
}

impl<'a> LockedShards<'a> {
    fn lock(shards: &'a Shards, operation: &Operation) -> Self {
        let hashes: SmallVec<[u64; 3]> = operation
            .charges()
            .map(|charge| shards.hash(&charge.limit, &charge.key))
            .collect();
        let index = |hash: &u64| shards.shard_index(*hash);
        let mut indices: SmallVec<[usize; 3]> = hashes.iter().map(index).collect();
        // In ascending order, so that transactions with common shards cannot deadlock.
        indices.sort_unstable();
        indices.dedup();
        let location = |&hash: &u64| Location {
            hash,
            shard: indices.iter().position(|&i| i == index(&hash)).unwrap_or_default(),
        };
        Self {
            locations: hashes.iter().map(location).collect(),
            shards: indices.iter().map(|&index| shards.lock(index)).collect(),
        }
    }

    /// The number of keys in its shards.
    fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.len()).sum()
    }
}

impl TierStates for LockedShards<'_> {
    fn peek(&self, tier: usize, charge: &Charge, now: Micros, cost: Cost) -> Verdict {
        let Location { hash, shard } = self.locations[tier];
        self.shards[shard].peek(hash, charge, now, cost)
    }

    fn commit(&mut self, tier: usize, charge: &Charge, now: Micros) -> Mark {
        let Location { hash, shard } = self.locations[tier];
        self.shards[shard].commit(hash, charge, now)
    }

    fn update(&mut self, tier: usize, charge: &Charge, now: Micros, change: impl FnOnce(&AnyAlgorithm, &mut State)) {
        let Location { hash, shard } = self.locations[tier];
        self.shards[shard].update(hash, charge, now, change);
    }

    fn remove(&mut self, tier: usize, charge: &Charge) {
        let Location { hash, shard } = self.locations[tier];
        self.shards[shard].remove(hash, charge);
    }
}
