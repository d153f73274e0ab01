//! Several limits charged as one group.

use tollgate::{
    AnyAlgorithm, Charge, Charges, Cost, Decision, Key, Limit, ManualClock, MemoryStore, Operation, State, Store,
};

use crate::laws::START;

/// A group of tiers on a separate memory store.
pub(crate) struct Tiers {
    pub(crate) store: MemoryStore,
    pub(crate) clock: ManualClock,
    pub(crate) limits: Vec<Limit>,
}

impl Tiers {
    pub(crate) fn new(algorithms: &[AnyAlgorithm]) -> Self {
        let clock = ManualClock::at(START);
        let limit = |(index, algorithm): (usize, &AnyAlgorithm)| Limit::new(&format!("tier{index}"), *algorithm);
        Self {
            store: MemoryStore::builder().clock(clock.clone()).build(),
            clock,
            limits: algorithms.iter().enumerate().map(limit).collect(),
        }
    }

    pub(crate) fn states(&self) -> Vec<Option<State>> {
        self.limits
            .iter()
            .map(|limit| self.store.state(limit, &Key::GLOBAL))
            .collect()
    }

    pub(crate) fn acquire(&self, costs: &[Cost]) -> Decision {
        let mut charges = Charges::new();
        for (limit, cost) in self.limits.iter().zip(costs) {
            charges
                .push(Charge::new(limit.clone(), Key::GLOBAL).with_cost(*cost))
                .unwrap();
        }
        self.store.apply(Operation::Acquire(charges)).into_inner().unwrap()
    }
}
