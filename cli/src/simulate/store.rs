//! The store of a simulation, whose clock is set to the time of each request.

use tollgate::{Decision, ManualClock, MemoryStore, Micros, Operation, Store};

use super::scratch_redis::ScratchRedis;
use crate::common::{output::Failure, store::StoreConfig};

pub(crate) enum SimulationStore {
    Memory { store: MemoryStore, clock: ManualClock },
    Redis(ScratchRedis),
}

impl SimulationStore {
    /// A store without any charges.
    pub(crate) fn new(config: &StoreConfig) -> Result<Self, Failure> {
        Ok(match config {
            StoreConfig::Memory => {
                let clock = ManualClock::at(0);
                // Expired keys are retained, since a later line may go back to a time when they counted.
                let store = MemoryStore::builder().max_keys(usize::MAX).retain_expired();
                let store = store.clock(clock.clone()).build();
                Self::Memory { store, clock }
            }
            StoreConfig::Redis(redis) => Self::Redis(ScratchRedis::open(redis)?),
        })
    }

    /// Applies an operation at the given time.
    pub(crate) fn apply(&self, at: Micros, operation: Operation) -> Result<Decision, Failure> {
        match self {
            Self::Memory { store, clock } => {
                clock.set(at);
                let Ok(decision) = store.apply(operation).into_inner();
                Ok(decision)
            }
            Self::Redis(redis) => redis.apply(at, operation),
        }
    }
}
