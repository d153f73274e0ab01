//! Applies an operation atomically: locks its shards, peeks all charges, and commits all only if all are admitted.

use std::sync::MutexGuard;

use smallvec::SmallVec;

use super::{shard::Shard, shards::Shards};
use crate::{
    algorithm::Algorithm,
    charge::{Charge, Charges},
    decision::{Decision, TierDecision, TierDecisions},
    metrics,
    operation::Operation,
    quota::Cost,
    receipt::Receipt,
    time::Micros,
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
    let mut transaction = Transaction::lock(shards, &operation, now);
    let before = transaction.len();
    let decision = match operation {
        Operation::Acquire(charges) => transaction.acquire(charges),
        Operation::Peek(charges) => Decision::new(now, transaction.evaluate(charges).0),
        Operation::Refund(receipt) => transaction.settle(receipt.settled(0)),
        Operation::Settle(receipt) => transaction.settle(receipt),
        Operation::Reset(charges) => transaction.reset(charges),
    };
    transaction.shards.iter_mut().for_each(|shard| shard.sweep(now));
    let after = transaction.len();
    drop(transaction);
    metrics::memory_keys(before, after);
    decision
}

/// The locked shards of an operation, and the location of each of its charges.
struct Transaction<'a> {
    now: Micros,
    shards: SmallVec<[MutexGuard<'a, Shard>; 3]>,
    locations: SmallVec<[Location; 3]>,
}

#[derive(Clone, Copy)]
struct Location {
    hash: u64,
    /// The index into the transaction's locked shards.
    shard: usize,
}

impl<'a> Transaction<'a> {
    fn lock(shards: &'a Shards, operation: &Operation, now: Micros) -> Self {
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
            now,
            locations: hashes.iter().map(location).collect(),
            shards: indices.iter().map(|&index| shards.lock(index)).collect(),
        }
    }

    /// The number of keys in its shards.
    fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.len()).sum()
    }

    fn peek(&self, tier: usize, charge: &Charge, cost: Cost) -> Verdict {
        let Location { hash, shard } = self.locations[tier];
        self.shards[shard].peek(hash, charge, self.now, cost)
    }

    fn acquire(&mut self, charges: Charges) -> Decision {
        let (mut tiers, admitted) = self.evaluate(charges);
        for (index, TierDecision { charge, verdict, mark }) in tiers.iter_mut().enumerate() {
            if admitted && verdict.outcome.admits() && charge.cost > 0 {
                let Location { hash, shard } = self.locations[index];
                *mark = Some(self.shards[shard].commit(hash, charge, self.now));
            }
        }
        Decision::new(self.now, tiers)
    }

    /// The verdict of each tier about a group, and whether the group is admitted. In a denied group, a tier that would admit
    /// reports its current state.
    fn evaluate(&self, charges: Charges) -> (TierDecisions, bool) {
        let mut tiers = self.tiers(charges.into_each(), |charge| charge.cost);
        let admitted = tiers.iter().all(TierDecision::passes);
        for (index, TierDecision { charge, verdict, .. }) in tiers.iter_mut().enumerate() {
            if !admitted && verdict.outcome.admits() {
                *verdict = self.peek(index, charge, 0);
            }
        }
        (tiers, admitted)
    }

    fn settle(&mut self, receipt: Receipt) -> Decision {
        let now = self.now;
        for (&Location { hash, shard }, charged) in self.locations.iter().zip(receipt.charged()) {
            let (charge, to) = (&charged.charge, charged.to());
            self.shards[shard].update(hash, charge, now, |algorithm, state| {
                algorithm.settle(state, now, charged.mark, charge.cost, to);
            });
        }
        self.peek_all(receipt.into_charges())
    }

    fn reset(&mut self, charges: Charges) -> Decision {
        for (&Location { hash, shard }, charge) in self.locations.iter().zip(charges.as_slice()) {
            self.shards[shard].remove(hash, charge);
        }
        self.peek_all(charges.into_each())
    }

    /// The verdict of each tier about a cost of 0.
    fn peek_all(&self, charges: impl Iterator<Item = Charge>) -> Decision {
        Decision::new(self.now, self.tiers(charges, |_| 0))
    }

    fn tiers(&self, charges: impl Iterator<Item = Charge>, cost: impl Fn(&Charge) -> Cost) -> TierDecisions {
        let tier = |(index, charge)| {
            let verdict = self.peek(index, &charge, cost(&charge));
            TierDecision::new(charge, verdict)
        };
        charges.enumerate().map(tier).collect()
    }
}
