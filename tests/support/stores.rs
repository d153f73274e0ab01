//! Both stores, told the same time and asked the same things.

use tollgate::{Decision, ManualClock, MemoryStore, Micros, Operation, RedisStore, Store};

use super::{cluster::Cluster, memory::still, redis::RedisServer};

/// A store under a test, and the clock it goes by.
#[derive(Clone)]
pub enum AnyStore {
    Memory(MemoryStore, ManualClock),
    /// At a server of this name.
    Redis(RedisStore, Option<ManualClock>, &'static str),
}

impl AnyStore {
    /// And what it is, to look into.
    pub fn memory() -> (Self, MemoryStore) {
        let (store, clock) = still();
        (Self::Memory(store.clone(), clock), store)
    }

    pub fn redis(server: &RedisServer, prefix: &str) -> Self {
        let clock = ManualClock::at(0);
        let store = server.store().prefix(prefix).clock(clock.clone()).build();
        Self::Redis(store.unwrap(), Some(clock), server.name())
    }

    pub fn cluster(cluster: &Cluster, prefix: &str) -> Self {
        let clock = ManualClock::at(0);
        let store = cluster.store().prefix(prefix).clock(clock.clone()).build();
        Self::Redis(store.unwrap(), Some(clock), "cluster")
    }

    /// Deaf to what time it is told.
    pub fn redis_on_its_own_clock(server: &RedisServer) -> Self {
        Self::Redis(
            server.store().repeat_refusals(false).build().unwrap(),
            None,
            server.name(),
        )
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Memory(..) => "memory",
            Self::Redis(_, _, server) => server,
        }
    }

    pub async fn apply(&self, now: Micros, operation: Operation) -> Decision {
        match self {
            Self::Memory(store, clock) => {
                clock.set(now);
                store.apply(operation).await.unwrap()
            }
            Self::Redis(store, clock, _) => {
                clock.iter().for_each(|clock| clock.set(now));
                store.apply(operation).await.unwrap()
            }
        }
    }
}
