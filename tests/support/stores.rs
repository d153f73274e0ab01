//! One interface to both stores, with the time given per operation.

use tollgate::{Decision, ManualClock, MemoryStore, Micros, Operation, RedisStore, Store};

use super::{cluster::Cluster, memory::store_at_zero, redis::RedisServer};

/// A store under test and its clock.
#[derive(Clone)]
pub enum AnyStore {
    Memory(MemoryStore, ManualClock),
    /// A Redis store, its clock unless it uses the server's, and the server's name.
    Redis(RedisStore, Option<ManualClock>, &'static str),
}

impl AnyStore {
    /// A memory store, and a handle to inspect it.
    pub fn memory() -> (Self, MemoryStore) {
        let (store, clock) = store_at_zero();
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

    /// A store that uses the server's clock and ignores `now`.
    pub fn redis_on_server_time(server: &RedisServer) -> Self {
        Self::Redis(
            server.store().cache_denials(false).build().unwrap(),
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
