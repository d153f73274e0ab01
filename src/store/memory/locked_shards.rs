//! Applies an operation atomically: locks the shards of its keys.

use std::sync::MutexGuard;

use smallvec::SmallVec;

use super::{indexed_heap::Found, shard::Shard, shards::Shards};
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

/// The locked shards of an operation, and the location of the key of each of its charges.
struct LockedShards<'a> {
    shards: PerTier<MutexGuard<'a, Shard>>,
    locations: PerTier<Location>,
}

#[derive(Clone, Copy)]
struct Location {
    hash: u64,
    /// The index of the shard.
    index: usize,
    /// The index into the locked shards.
    locked: usize,
    /// Set by a peek.
    found: Found,
}

impl<'a> LockedShards<'a> {
    /// Adds to its lists one by one: collecting a few elements takes several times as long.
    fn lock(shards: &'a Shards, operation: &Operation) -> Self {
        let mut locations: PerTier<Location> = PerTier::new();
        for charge in operation.charges() {
            let hash = shards.hash(&charge.limit, &charge.key);
            locations.push(Location {
                hash,
                index: shards.shard_index(hash),
                locked: 0,
                found: Found::default(),
            });
        }
        // In ascending order, so that transactions with common shards cannot deadlock.
        let mut locked: PerTier<MutexGuard<'a, Shard>> = PerTier::new();
        let mut next = locations.iter().map(|location| location.index).min();
        while let Some(index) = next {
            next = None;
            for location in &mut locations {
                if location.index == index {
                    location.locked = locked.len();
                } else if location.index > index {
                    next = Some(next.map_or(location.index, |next| next.min(location.index)));
                }
            }
            locked.push(shards.lock(index));
        }
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
    fn peek(&mut self, tier: usize, charge: &Charge, now: Micros, cost: Cost) -> Verdict {
        let Location {
            hash, locked, found, ..
        } = &mut self.locations[tier];
        let verdict;
        (verdict, *found) = self.shards[*locked].peek(*hash, charge, now, cost);
        verdict
    }

    fn commit(&mut self, tier: usize, charge: &Charge, now: Micros) -> Mark {
        let Location {
            hash, locked, found, ..
        } = self.locations[tier];
        self.shards[locked].commit(hash, found, charge, now)
    }

    fn update(&mut self, tier: usize, charge: &Charge, now: Micros, change: impl FnOnce(&AnyAlgorithm, &mut State)) {
        let Location { hash, locked, .. } = self.locations[tier];
        self.shards[locked].update(hash, charge, now, change);
    }

    fn remove(&mut self, tier: usize, charge: &Charge) {
        let Location { hash, locked, .. } = self.locations[tier];
        self.shards[locked].remove(hash, charge);
    }
}
