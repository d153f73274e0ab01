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
    receipt::Receipt,
    time::Micros,
    transaction::{self, TierStates},
    verdict::Verdict,
};

pub(super) fn apply(shards: &Shards, operation: Operation) -> Decision {
    match operation {
        Operation::Acquire(charges) => acquire(shards, charges),
        Operation::Refund(receipt) => settle(shards, receipt.settled(0)),
        Operation::Settle(receipt) => settle(shards, receipt),
        other => apply_locked(shards, other, shards.clock.now()),
    }
}

#[inline]
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

fn settle(shards: &Shards, receipt: Receipt) -> Decision {
    let now = shards.clock.now();
    match receipt.into_one() {
        Ok(charged) => {
            let verdict = shards.settle(&charged, now);
            Decision::of_one(now, TierDecision::new(charged.charge, verdict))
        }
        Err(receipt) => apply_locked(shards, Operation::Settle(receipt), now),
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

/// A list with an element per tier. More than four are on the heap.
type PerTier<T> = SmallVec<[T; 4]>;

/// The locked shards of an operation, and the location of each of its charges.
struct LockedShards<'a> {
    shards: PerTier<MutexGuard<'a, Shard>>,
    locations: PerTier<Location>,
}

#[derive(Clone, Copy)]
struct Location {
    hash: u64,
    /// The index into the locked shards.
    shard: usize,
}

impl<'a> LockedShards<'a> {
    /// Adds to its lists one by one: collecting a few elements takes several times as long.
    fn lock(shards: &'a Shards, operation: &Operation) -> Self {
        let (mut locations, mut indices) = (PerTier::new(), PerTier::new());
        for charge in operation.charges() {
            let hash = shards.hash(&charge.limit, &charge.key);
            let shard = shards.shard_index(hash);
            locations.push(Location { hash, shard });
            indices.push(shard);
        }
        // In ascending order, so that transactions with common shards cannot deadlock.
        indices.sort_unstable();
        indices.dedup();
        for location in &mut locations {
            let position = indices.iter().position(|index| *index == location.shard);
            location.shard = position.expect("every shard of a charge is locked");
        }
        let mut locked = PerTier::new();
        indices.iter().for_each(|index| locked.push(shards.lock(*index)));
        Self {
            shards: locked,
            locations,
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
