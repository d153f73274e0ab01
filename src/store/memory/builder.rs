//! The settings of a memory store.

use std::sync::Arc;

use super::{shards::Shards, store::MemoryStore};
use crate::{
    clock::Clock,
    invalid::{self, Invalid},
    measure,
};

impl MemoryStore {
    /// A store of up to a million keys on the system's clock.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A store with settings of its own.
    pub fn builder() -> MemoryStoreBuilder {
        MemoryStoreBuilder {
            max_keys: 1_000_000,
            clock: Clock::system(),
            sweeps: true,
        }
    }
}

/// Settings of a [`MemoryStore`].
#[derive(Clone, Debug)]
pub struct MemoryStoreBuilder {
    max_keys: usize,
    clock: Clock,
    sweeps: bool,
}

impl MemoryStoreBuilder {
    /// The most keys it holds; a million by default. It bounds keys, not bytes: a full log takes eight an entry.
    ///
    /// The bound is shared out among up to 64 shards, so a large store may begin to forget a little before it is full.
    /// It should hold the tiers of one request at the very least, or a request forgets what it has just charged.
    ///
    /// # Panics
    /// When it is 0.
    #[must_use]
    #[track_caller]
    pub fn max_keys(self, max_keys: usize) -> Self {
        invalid::expect(self.try_max_keys(max_keys))
    }

    /// The most keys it holds, or an error when that is 0.
    pub fn try_max_keys(self, max_keys: usize) -> Result<Self, Invalid> {
        match max_keys {
            0 => Err(Invalid::new("max_keys", max_keys, "be at least 1")),
            _ => Ok(Self { max_keys, ..self }),
        }
    }

    /// The clock it goes by: a [`ManualClock`](crate::ManualClock) lets a test say what time it is.
    #[must_use]
    pub fn clock(self, clock: impl Into<Clock>) -> Self {
        Self {
            clock: clock.into(),
            ..self
        }
    }

    /// Does not sweep state that has lapsed, which takes memory for every key that there ever was, up to
    /// [`max_keys`](Self::max_keys).
    ///
    /// It is for replays on a [`ManualClock`](crate::ManualClock) that may go back: what had lapsed then counts again, as it does
    /// in Redis.
    #[must_use]
    pub fn keep_lapsed(self) -> Self {
        Self { sweeps: false, ..self }
    }

    /// The store.
    pub fn build(self) -> MemoryStore {
        measure::describe();
        MemoryStore(Arc::new(Shards::new(self.max_keys, self.sweeps, self.clock)))
    }
}
