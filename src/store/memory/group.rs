//! A group of charges, in one step: lock its shards, peek all, and only if all admit, commit all.

use std::sync::MutexGuard;

use smallvec::SmallVec;

use super::{MemoryStore, Store, lock, shard::Shard};
use crate::{
    algorithm::{Algorithm, Mark},
    charge::{Charge, Charges},
    decision::{Decision, Tier},
    operation::Operation,
    quota::Cost,
    receipt::{Charged, Receipt},
    time::Micros,
    verdict::Verdict,
};

pub(super) fn apply(store: &MemoryStore, operation: Operation) -> Decision {
    let now = store.clock().now();
    let mut group = Group::lock(store, &operation, now);
    let decision = match operation {
        Operation::Acquire(charges) => group.acquire(charges),
        Operation::Refund(receipt) => group.settle(&receipt.settled(0)),
        Operation::Settle(receipt) => group.settle(&receipt),
        Operation::Reset(charges) => group.reset(&charges),
    };
    group.shards.iter_mut().for_each(|shard| shard.sweep(now));
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
    fn lock(store: &'a MemoryStore, operation: &Operation, now: Micros) -> Self {
        let hashes: SmallVec<[u64; 3]> = operation
            .charges()
            .map(|charge| store.hash(&charge.limit, &charge.key))
            .collect();
        let index = |hash: &u64| store.shard_index(*hash);
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
            shards: indices.iter().map(|&index| lock(&store.0.shards[index])).collect(),
        }
    }

    fn peek(&self, tier: usize, charge: &Charge, cost: Cost) -> Verdict {
        let Place { hash, shard } = self.places[tier];
        self.shards[shard].peek(hash, &charge.limit, &charge.key, self.now, cost)
    }

    fn acquire(&mut self, charges: Charges) -> Decision {
        let mut tiers: SmallVec<[Tier; 3]> = SmallVec::new();
        for (index, charge) in charges.as_slice().iter().enumerate() {
            tiers.push(Tier::new(charge, self.peek(index, charge, charge.cost)));
        }
        let admitted = tiers
            .iter()
            .all(|tier| tier.is_shadow() || tier.verdict.outcome.admits());
        let mut charged: SmallVec<[Charged; 3]> = SmallVec::new();
        for (index, charge) in charges.into_each().enumerate() {
            let verdict = &mut tiers[index].verdict;
            if !verdict.outcome.admits() {
                continue;
            }
            if !admitted {
                *verdict = self.peek(index, &charge, 0);
            } else if charge.cost > 0 {
                let mark = self.commit(index, &charge);
                charged.push(Charged::new(charge, mark));
            }
        }
        Decision::new(self.now, tiers, Receipt::new(charged))
    }

    fn commit(&mut self, tier: usize, charge: &Charge) -> Mark {
        let (now, Place { hash, shard }) = (self.now, self.places[tier]);
        self.shards[shard].update(hash, &charge.limit, &charge.key, now, |rule, state| {
            rule.commit(state, now, charge.cost)
        })
    }

    fn settle(&mut self, receipt: &Receipt) -> Decision {
        let now = self.now;
        for (&Place { hash, shard }, Charged { charge, mark, to }) in self.places.iter().zip(receipt.charged()) {
            self.shards[shard].update(hash, &charge.limit, &charge.key, now, |rule, state| {
                rule.settle(state, now, *mark, charge.cost, *to);
            });
        }
        self.look(receipt.charged().iter().map(|charged| &charged.charge))
    }

    fn reset(&mut self, charges: &Charges) -> Decision {
        for (&Place { hash, shard }, charge) in self.places.iter().zip(charges.as_slice()) {
            self.shards[shard].remove(hash, &charge.limit, &charge.key);
        }
        self.look(charges.as_slice())
    }

    /// What each tier says when asked without spending.
    fn look<'c>(&self, charges: impl IntoIterator<Item = &'c Charge>) -> Decision {
        let tiers = charges.into_iter().enumerate();
        let tiers = tiers.map(|(index, charge)| Tier::new(charge, self.peek(index, charge, 0)));
        Decision::new(self.now, tiers, None)
    }
}
