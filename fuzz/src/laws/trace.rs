//! Traffic on a memory store, step by step.

use std::collections::HashMap;

use tollgate::{
    Algorithm, Charge, Charges, Decision, Key, Limit, ManualClock, MemoryStore, Micros, Operation, Receipt, Rule,
    State, Store,
};

use super::{
    admitted::Admitted,
    moment::Moment,
    traffic::{Deed, Step},
};

const START: Micros = 1_700_000_000_000_000;

/// More than there are, and few enough that a store is made in no time.
const KEYS: usize = 100;

/// One or two limits, and whoever is counted under them.
pub(super) struct Trace {
    store: MemoryStore,
    clock: ManualClock,
    /// The latest time that there was.
    latest: Micros,
    limits: Vec<Limit>,
    /// By key and tier.
    admitted: HashMap<(usize, usize), Admitted>,
    receipts: Vec<Held>,
}

/// A receipt, whose it is, and the number of what each tier granted for it.
struct Held {
    receipt: Receipt,
    key: usize,
    grants: Vec<usize>,
}

impl Trace {
    pub(super) fn new(rules: &[Rule]) -> Self {
        let clock = ManualClock::at(START);
        let limit = |(index, rule): (usize, &Rule)| Limit::new(&format!("tier{index}"), *rule);
        Self {
            store: MemoryStore::builder()
                .clock(clock.clone())
                .keep_lapsed()
                .max_keys(KEYS)
                .build(),
            clock,
            latest: START,
            limits: rules.iter().enumerate().map(limit).collect(),
            admitted: HashMap::new(),
            receipts: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, step: &[u8; 4]) {
        let step = Step::from(*step);
        self.clock.set(step.after(self.clock.now(), self.limits[0].rule()));
        self.latest = self.latest.max(self.clock.now());
        match step.deed() {
            Deed::Acquire => self.acquire(step),
            Deed::Refund => self.correct(step, |receipt, _| Operation::Refund(receipt)),
            Deed::Settle => self.correct(step, |receipt, to| Operation::Settle(receipt.settled(to))),
            Deed::Reset => self.reset(step),
        }
    }

    pub(super) fn finish(&self) {
        for ((_, tier), admitted) in &self.admitted {
            admitted.stay_within_the_bound(self.limits[*tier].rule());
        }
    }

    /// A refusal changes nothing, an admission charges every tier, and each tier tells the truth.
    fn acquire(&mut self, step: Step) {
        let (now, key, before) = (self.clock.now(), step.key(), self.states(step.key()));
        let moments: Vec<Moment<'_>> = self.moments(step, &before).collect();
        moments.iter().for_each(|moment| moment.keeps_the_laws());
        let alone = moments
            .iter()
            .map(|moment| moment.rule.peek(moment.state, now, moment.cost));
        let alone: Vec<_> = alone.collect();
        let all = alone.iter().all(|verdict| verdict.outcome().admits());

        let mut decision = self.apply(Operation::Acquire(self.charges(step)));
        assert_eq!(decision.admits(), all);
        for ((tier, moment), asked) in decision.tiers().iter().zip(&moments).zip(&alone) {
            let passes = asked.outcome().admits();
            let told = if all || !passes {
                *asked
            } else {
                moment.rule.peek(moment.state, now, 0)
            };
            assert_eq!(tier.verdict(), told);
        }
        let expected = moments.iter().map(|moment| {
            let mut expected = moment.state.clone();
            if all && moment.cost > 0 {
                moment.rule.commit(&mut expected, now, moment.cost);
            }
            expected
        });
        assert_eq!(self.states(key), expected.collect::<Vec<_>>());
        let costs: Vec<u64> = moments.iter().map(|moment| moment.cost.into()).collect();
        let receipt = decision.take_receipt();
        assert_eq!(receipt.is_some(), all && costs.iter().any(|cost| *cost > 0));
        if let Some(receipt) = receipt {
            let granted = costs.into_iter().enumerate();
            let grants = granted.map(|(tier, cost)| self.admitted.entry((key, tier)).or_default().grant(now, cost));
            let grants = grants.collect();
            self.receipts.push(Held { receipt, key, grants });
        }
    }

    /// What is given back is there again, and no more than that; what is charged later is gone.
    fn correct(&mut self, step: Step, operation: fn(Receipt, u64) -> Operation) {
        if self.receipts.is_empty() {
            return;
        }
        let Held { receipt, key, grants } = self.receipts.swap_remove(step.pick(self.receipts.len()));
        let (now, before) = (self.clock.now(), self.states(key));
        let to = u64::from(step.cost(self.limits[0].rule()));
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
            let left = |state| limit.rule().peek(state, now, 0).remaining();
            match charged.iter().find(|(charged, _)| charged == limit) {
                Some((_, cost)) if to < *cost => {
                    assert!(left(&after) >= left(&before) && left(&after) <= left(&before) + (cost - to));
                    let lives = |state: &State| limit.rule().expires_at(state);
                    assert!(after == before || lives(&after) <= lives(&before));
                }
                Some((_, cost)) if to > *cost => assert!(left(&after) <= left(&before)),
                _ => assert_eq!(after, before),
            }
            let admitted = self.admitted.entry((key, tier)).or_default();
            admitted.correct(now, grants[tier], to);
        }
    }

    /// As if nothing had ever been charged.
    fn reset(&mut self, step: Step) {
        self.finish();
        self.apply(Operation::Reset(self.charges(step)));
        assert!(self.states(step.key()).iter().all(|state| *state == State::Fresh));
        self.admitted.retain(|(key, _), _| *key != step.key());
        self.receipts.retain(|held| held.key != step.key());
    }

    fn apply(&self, operation: Operation) -> Decision {
        self.store
            .apply(operation)
            .into_inner()
            .expect("nobody fails in memory")
    }

    fn states(&self, key: usize) -> Vec<State> {
        let state = |limit| self.store.state(limit, &identity(key)).unwrap_or_default();
        self.limits.iter().map(state).collect()
    }

    fn charges(&self, step: Step) -> Charges {
        let mut charges = Charges::new();
        for limit in &self.limits {
            let charge = Charge::new(limit.clone(), identity(step.key())).cost(step.cost(limit.rule()));
            charges.push(charge).expect("each tier has a name of its own");
        }
        charges
    }

    /// As it stands by the latest time, since an earlier one may be taken for that.
    fn moments<'m>(&'m self, step: Step, states: &'m [State]) -> impl Iterator<Item = Moment<'m>> {
        let now = self.latest;
        self.limits.iter().zip(states).map(move |(limit, state)| {
            let (rule, cost) = (limit.rule(), step.cost(limit.rule()));
            Moment { rule, state, now, cost }
        })
    }
}

fn identity(key: usize) -> Key {
    Key::named("user", key)
}
