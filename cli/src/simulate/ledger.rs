//! Where it is counted: in this process, or at a Redis.

use tollgate::{Charges, Decision, ManualClock, MemoryStore, Micros, Operation, Store};

use crate::{
    common::{failure::Failure, store::Place},
    simulate::shared::Shared,
};

pub(crate) enum Ledger {
    Memory { store: MemoryStore, clock: ManualClock },
    Redis(Shared),
}

impl Ledger {
    /// One that nothing has been charged to.
    pub(crate) fn open(place: &Place) -> Result<Self, Failure> {
        Ok(match place {
            Place::Memory => {
                let clock = ManualClock::at(0);
                // Nothing is ever forgotten: times may go back to when it counted.
                let store = MemoryStore::builder().max_keys(usize::MAX).keep_lapsed();
                let store = store.clock(clock.clone()).build();
                Self::Memory { store, clock }
            }
            Place::Redis(redis) => Self::Redis(Shared::open(redis)?),
        })
    }

    /// Decides as if it were that time.
    pub(crate) fn decide(&self, at: Micros, charges: Charges) -> Result<Decision, Failure> {
        let operation = Operation::Acquire(charges);
        match self {
            Self::Memory { store, clock } => {
                clock.set(at);
                let Ok(decision) = store.apply(operation).into_inner();
                Ok(decision)
            }
            Self::Redis(shared) => shared.decide(at, operation),
        }
    }
}
