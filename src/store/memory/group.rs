//! A group of charges, in one step: lock its shards, peek all, and only if all admit, commit all.

use std::sync::MutexGuard;

use smallvec::SmallVec;

use super::{shard::Shard, shards::Shards};
use crate::{
    algorithm::Algorithm,
    charge::{Charge, Charges},
    decision::{Decision, Tier, Tiers},
    measure,
    operation::Operation,
    quota::Cost,
    receipt::Receipt,
    time::Micros,
    verdict::Verdict,
};

pub(super) fn apply(shards: &Shards, operation: Operation) -> Decision {
    match operation {
        Operation::Acquire(charges) => acquire(shards, charges),
        other => together(shards, other, shards.clock.now()),
    }
}

pub(super) fn acquire(shards: &Shards, charges: Charges) -> Decision {
    let now = shards.clock.now();
    match charges.into_one() {
        Ok(charge) => {
            let (verdict, mark) = shards.decide(&charge.limit, &charge.key, charge.cost, now);
            Decision::of_one(now, Tier { charge, verdict, mark })
        }
        Err(charges) => together(shards, Operation::Acquire(charges), now),
    }
}

fn together(shards: &Shards, operation: Operation, now: Micros) -> Decision {
    let mut group = Group::lock(shards, &operation, now);
    let before = group.len();
    let decision = match operation {
        Operation::Acquire(charges) => group.acquire(charges),
        Operation::Refund(receipt) => group.settle(receipt.settled(0)),
        Operation::Settle(receipt) => group.settle(receipt),
        Operation::Reset(charges) => group.reset(charges),
    };
    group.shards.iter_mut().for_each(|shard| shard.sweep(now));
    let after = group.len();
    drop(group);
    measure::memory_keys(before, after);
    decision
}

/// The locked shards of an operation, and where each of its charges lies.
struct Group<'a> {
    now: Micros,
    shards: SmallVec<[MutexGuard<'a, Shard>; 3]>,
    places: SmallVec<[Place; 3]>,
}

#[derive(Clone, Copy)]
struct Place {
    hash: u64,
    /// Which of the group's locked shards.
    shard: usize,
}

impl<'a> Group<'a> {
    fn lock(shards: &'a Shards, operation: &Operation, now: Micros) -> Self {
        let hashes: SmallVec<[u64; 3]> = operation
            .charges()
            .map(|charge| shards.hash(&charge.limit, &charge.key))
            .collect();
        let index = |hash: &u64| shards.shard_index(*hash);
        let mut indices: SmallVec<[usize; 3]> = hashes.iter().map(index).collect();
        // Always in ascending order: two groups that cross never wait for each other.
        indices.sort_unstable();
        indices.dedup();
        let place = |&hash: &u64| Place {
            hash,
            shard: indices.iter().position(|&i| i == index(&hash)).unwrap_or_default(),
        };
        Self {
            now,
            places: hashes.iter().map(place).collect(),
            shards: indices.iter().map(|&index| shards.lock(index)).collect(),
        }
    }

    /// How many keys its shards hold.
    fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.len()).sum()
    }

    fn peek(&self, tier: usize, charge: &Charge, cost: Cost) -> Verdict {
        let Place { hash, shard } = self.places[tier];
        self.shards[shard].peek(hash, charge, self.now, cost)
    }

    fn acquire(&mut self, charges: Charges) -> Decision {
        let mut tiers = self.tiers(charges.into_each(), |charge| charge.cost);
        let admitted = tiers.iter().all(Tier::lets_pass);
        for (index, Tier { charge, verdict, mark }) in tiers.iter_mut().enumerate() {
            if !verdict.outcome.admits() {
                continue;
            }
            if !admitted {
                *verdict = self.peek(index, charge, 0);
            } else if charge.cost > 0 {
                let Place { hash, shard } = self.places[index];
                *mark = Some(self.shards[shard].commit(hash, charge, self.now));
            }
        }
        Decision::new(self.now, tiers)
    }

    fn settle(&mut self, receipt: Receipt) -> Decision {
        let now = self.now;
        for (&Place { hash, shard }, charged) in self.places.iter().zip(receipt.charged()) {
            let (charge, to) = (&charged.charge, charged.to());
            self.shards[shard].update(hash, charge, now, |rule, state| {
                rule.settle(state, now, charged.mark, charge.cost, to);
            });
        }
        self.look(receipt.into_charges())
    }

    fn reset(&mut self, charges: Charges) -> Decision {
        for (&Place { hash, shard }, charge) in self.places.iter().zip(charges.as_slice()) {
            self.shards[shard].remove(hash, charge);
        }
        self.look(charges.into_each())
    }

    /// What each tier says when asked without spending.
    fn look(&self, charges: impl Iterator<Item = Charge>) -> Decision {
        Decision::new(self.now, self.tiers(charges, |_| 0))
    }

    fn tiers(&self, charges: impl Iterator<Item = Charge>, cost: impl Fn(&Charge) -> Cost) -> Tiers {
        let tier = |(index, charge)| {
            let verdict = self.peek(index, &charge, cost(&charge));
            Tier::new(charge, verdict)
        };
        charges.enumerate().map(tier).collect()
    }
}
