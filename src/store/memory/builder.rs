//! The settings of a memory store.

use std::sync::Arc;

use super::{shards::Shards, store::MemoryStore};
use crate::{
    clock::Clock,
    config_error::{self, ConfigError},
    metrics,
};

impl MemoryStore {
    /// A store of up to a million keys on the system clock.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A builder for other settings.
    pub fn builder() -> MemoryStoreBuilder {
        MemoryStoreBuilder {
            max_keys: 1_000_000,
            clock: Clock::system(),
            sweeps: true,
        }
    }
}

/// Builds a [`MemoryStore`].
#[derive(Clone, Debug)]
pub struct MemoryStoreBuilder {
    max_keys: usize,
    clock: Clock,
    sweeps: bool,
}

impl MemoryStoreBuilder {
    /// The maximal number of keys; a million by default. It bounds keys, not bytes: a sliding log takes eight bytes per entry.
    ///
    /// The bound is divided among up to 64 shards, so a large store may start to evict slightly before it is full, and it may hold up to
    /// 3% more for a moment, because no request waits until the key to evict is found. It should be at least the number of tiers of
    /// one request, or a request evicts what it has just charged.
    ///
    /// # Panics
    /// If it is 0.
    #[must_use]
    #[track_caller]
    pub fn max_keys(self, max_keys: usize) -> Self {
        config_error::expect(self.try_max_keys(max_keys))
    }

    /// The maximal number of keys, or an error if it is 0.
    pub fn try_max_keys(self, max_keys: usize) -> Result<Self, ConfigError> {
        match max_keys {
            0 => Err(ConfigError::new("max_keys", max_keys, "be at least 1")),
            _ => Ok(Self { max_keys, ..self }),
        }
    }

    /// The clock of the store: a [`ManualClock`](crate::ManualClock) in tests.
    #[must_use]
    pub fn clock(self, clock: impl Into<Clock>) -> Self {
        Self {
            clock: clock.into(),
            ..self
        }
    }

    /// Keeps expired state instead of sweeping it. Every key ever charged then takes memory, up to
    /// [`max_keys`](Self::max_keys).
    ///
    /// It is for replays on a [`ManualClock`](crate::ManualClock) that may go back: expired state then counts again, as in
    /// Redis.
    #[must_use]
    pub fn retain_expired(self) -> Self {
        Self { sweeps: false, ..self }
    }

    /// Builds the store.
    pub fn build(self) -> MemoryStore {
        metrics::describe();
        MemoryStore(Arc::new(Shards::new(self.max_keys, self.sweeps, self.clock)))
    }
}
