//! Runs the steps of an input on a memory store.

use std::collections::HashMap;

use tollgate::{
    Algorithm, AnyAlgorithm, Charge, Charges, Decision, Key, Limit, ManualClock, MemoryStore, Micros, Operation,
    Receipt, State, Store, TierDecision, Verdict,
};

use super::{
    admissions::Admissions,
    input::{Action, Step},
    snapshot::Snapshot,
};

const START: Micros = 1_700_000_000_000_000;

/// More than the trace uses, and few enough that the store is cheap to create.
const MAX_KEYS: usize = 100;

/// One or two limits, and the keys that are charged.
pub(super) struct Trace {
    store: MemoryStore,
    clock: ManualClock,
    /// The latest time so far.
    latest: Micros,
    limits: Vec<Limit>,
    /// By key and tier.
    admissions: HashMap<(usize, usize), Admissions>,
    receipts: Vec<OpenReceipt>,
}

/// A receipt, its key, and the index of its admission in each tier.
struct OpenReceipt {
    receipt: Receipt,
    key: usize,
    indices: Vec<usize>,
}

impl Trace {
    pub(super) fn new(algorithms: &[AnyAlgorithm]) -> Self {
        let clock = ManualClock::at(START);
        let limit = |(index, algorithm): (usize, &AnyAlgorithm)| Limit::new(&format!("tier{index}"), *algorithm);
        Self {
            store: MemoryStore::builder()
                .clock(clock.clone())
                .retain_expired()
                .max_keys(MAX_KEYS)
                .build(),
            clock,
            latest: START,
            limits: algorithms.iter().enumerate().map(limit).collect(),
            admissions: HashMap::new(),
            receipts: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, step: &[u8; 4]) {
        let step = Step::from(*step);
        self.clock.set(step.time(self.clock.now(), self.limits[0].algorithm()));
        self.latest = self.latest.max(self.clock.now());
        match step.action() {
            Action::Acquire => self.acquire(step),
            Action::Refund => self.settle(step, |receipt, _| Operation::Refund(receipt)),
            Action::Settle => self.settle(step, |receipt, to| Operation::Settle(receipt.settled(to))),
            Action::Reset => self.reset(step),
        }
    }

    pub(super) fn finish(&self) {
        for ((_, tier), admissions) in &self.admissions {
            admissions.are_bounded(self.limits[*tier].algorithm());
        }
    }

    /// A peek and a denial change nothing, an admission charges every tier, and each tier returns the correct verdict.
    fn acquire(&mut self, step: Step) {
        let (now, key, before) = (self.clock.now(), step.key(), self.states(step.key()));
        let snapshots: Vec<Snapshot<'_>> = self.snapshots(step, &before).collect();
        snapshots.iter().for_each(|snapshot| snapshot.check());
        let verdicts = snapshots
            .iter()
            .map(|snapshot| snapshot.algorithm.peek(snapshot.state, now, snapshot.cost));
        let verdicts: Vec<_> = verdicts.collect();
        let all = verdicts.iter().all(|verdict| verdict.outcome().admits());

        let mut peeked = self.apply(Operation::Peek(self.charges(step)));
        assert_eq!((peeked.admits(), peeked.take_receipt().is_some()), (all, false));
        assert_eq!(self.states(key), before);
        let mut decision = self.apply(Operation::Acquire(self.charges(step)));
        assert_eq!(decision.admits(), all);
        assert!(verdicts_of(&peeked).eq(verdicts_of(&decision)));
        for ((tier, snapshot), verdict) in decision.tiers().iter().zip(&snapshots).zip(&verdicts) {
            let expected = if all || !verdict.outcome().admits() {
                *verdict
            } else {
                snapshot.algorithm.peek(snapshot.state, now, 0)
            };
            assert_eq!(tier.verdict(), expected);
        }
        let expected = snapshots.iter().map(|snapshot| {
            let mut expected = snapshot.state.clone();
            if all && snapshot.cost > 0 {
                snapshot.algorithm.commit(&mut expected, now, snapshot.cost);
            }
            expected
        });
        assert_eq!(self.states(key), expected.collect::<Vec<_>>());
        let costs: Vec<u64> = snapshots.iter().map(|snapshot| snapshot.cost.into()).collect();
        let receipt = decision.take_receipt();
        assert_eq!(receipt.is_some(), all && costs.iter().any(|cost| *cost > 0));
        if let Some(receipt) = receipt {
            let indices = costs.into_iter().enumerate();
            let indices = indices.map(|(tier, cost)| self.admissions.entry((key, tier)).or_default().add(now, cost));
            let indices = indices.collect();
            self.receipts.push(OpenReceipt { receipt, key, indices });
        }
    }

    /// A refund makes available at most what it refunds, and a surplus makes nothing available.
    fn settle(&mut self, step: Step, operation: fn(Receipt, u64) -> Operation) {
        if self.receipts.is_empty() {
            return;
        }
        let OpenReceipt { receipt, key, indices } = self.receipts.swap_remove(step.index(self.receipts.len()));
        let (now, before) = (self.clock.now(), self.states(key));
        let to = u64::from(step.cost(self.limits[0].algorithm()));
        let charged: Vec<(Limit, u64)> = receipt
            .costs()
            .map(|(limit, cost)| (limit.clone(), cost.into()))
            .collect();
        let operation = operation(receipt, to);
        let to = if matches!(operation, Operation::Refund(_)) {
            0
        } else {
            to
        };
        self.apply(operation);
        for (tier, (before, after)) in before.into_iter().zip(self.states(key)).enumerate() {
            let limit = &self.limits[tier];
            let remaining = |state| limit.algorithm().peek(state, now, 0).remaining();
            match charged.iter().find(|(charged, _)| charged == limit) {
                Some((_, cost)) if to < *cost => {
                    assert!(remaining(&after) >= remaining(&before));
                    assert!(remaining(&after) <= remaining(&before) + (cost - to));
                    let expires_at = |state: &State| limit.algorithm().expires_at(state);
                    assert!(after == before || expires_at(&after) <= expires_at(&before));
                }
                Some((_, cost)) if to > *cost => assert!(remaining(&after) <= remaining(&before)),
                _ => assert_eq!(after, before),
            }
            let admissions = self.admissions.entry((key, tier)).or_default();
            admissions.settle(now, indices[tier], to);
        }
    }

    /// A reset makes the state fresh.
    fn reset(&mut self, step: Step) {
        self.finish();
        self.apply(Operation::Reset(self.charges(step)));
        assert!(self.states(step.key()).iter().all(|state| *state == State::Fresh));
        self.admissions.retain(|(key, _), _| *key != step.key());
        self.receipts.retain(|open| open.key != step.key());
    }

    fn apply(&self, operation: Operation) -> Decision {
        self.store
            .apply(operation)
            .into_inner()
            .expect("the memory store does not fail")
    }

    fn states(&self, key: usize) -> Vec<State> {
        let state = |limit| self.store.state(limit, &identity(key)).unwrap_or_default();
        self.limits.iter().map(state).collect()
    }

    fn charges(&self, step: Step) -> Charges {
        let mut charges = Charges::new();
        for limit in &self.limits {
            let charge = Charge::new(limit.clone(), identity(step.key())).with_cost(step.cost(limit.algorithm()));
            charges.push(charge).expect("tiers have different names");
        }
        charges
    }

    /// Each limit's state at the latest time, since a state treats an earlier time as the latest.
    fn snapshots<'s>(&'s self, step: Step, states: &'s [State]) -> impl Iterator<Item = Snapshot<'s>> {
        let now = self.latest;
        self.limits.iter().zip(states).map(move |(limit, state)| {
            let (algorithm, cost) = (limit.algorithm(), step.cost(limit.algorithm()));
            Snapshot {
                algorithm,
                state,
                now,
                cost,
            }
        })
    }
}

fn verdicts_of(decision: &Decision) -> impl Iterator<Item = Verdict> {
    decision.tiers().iter().map(TierDecision::verdict)
}

fn identity(key: usize) -> Key {
    Key::named("user", key)
}
