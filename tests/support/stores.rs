//! Both stores, told the same time and asked the same things.

use std::time::Duration;

use tollgate::{Decision, ManualClock, MemoryStore, Micros, Operation, RedisStore, Store};

use super::redis::RedisServer;

/// A store under a test, and the clock it goes by.
#[derive(Clone)]
pub enum AnyStore {
    Memory(MemoryStore, ManualClock),
    Redis(RedisStore, ManualClock),
}

impl AnyStore {
    pub fn memory() -> Self {
        let clock = ManualClock::at(0);
        Self::Memory(MemoryStore::builder().clock(clock.clone()).build(), clock)
    }

    pub fn redis(server: &RedisServer, prefix: &str) -> Self {
        let clock = ManualClock::at(0);
        let builder = RedisStore::builder().url(&server.url()).prefix(prefix);
        // The machine may be busy, and no test here is about the deadline.
        let builder = builder.deadline(Duration::from_secs(30)).clock(clock.clone());
        Self::Redis(builder.build().unwrap(), clock)
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Memory(..) => "memory",
            Self::Redis(..) => "redis",
        }
    }

    pub async fn apply(&self, now: Micros, operation: Operation) -> Decision {
        match self {
            Self::Memory(store, clock) => {
                clock.set(now);
                store.apply(operation).await.unwrap()
            }
            Self::Redis(store, clock) => {
                clock.set(now);
                store.apply(operation).await.unwrap()
            }
        }
    }
}
