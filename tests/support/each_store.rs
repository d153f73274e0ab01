//! Generates a test per store, on a manual clock.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

use tollgate::{Charge, Key, Limit, ManualClock, MemoryStore, Micros, Operation, RedisStore, Store};

use super::redis::RedisServer;

/// 15.25 seconds into a minute, so that no result is a round number.
pub const NOW: Micros = 615_250_000;

/// Generates a test per store from each `async fn name<St: TestStore>()`.
#[macro_export]
macro_rules! on_both_stores {
    ($($test:ident),* $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $test() {
                super::$test::<tollgate::MemoryStore>().await;
            })*
        }

        mod on_redis {
            $(#[tokio::test]
            async fn $test() {
                super::$test::<tollgate::RedisStore>().await;
            })*
        }
    };
}
pub use on_both_stores;

pub trait TestStore: Store {
    /// Stores of `N` nodes that share their keys, which no other test uses.
    fn nodes<const N: usize>(clock: &ManualClock) -> [Self; N];

    /// An empty store at [`NOW`].
    fn fresh() -> (Self, ManualClock) {
        let clock = ManualClock::at(NOW);
        let [store] = Self::nodes(&clock);
        (store, clock)
    }

    /// The units that the store reports as remaining.
    async fn left(&self, limit: &Limit, key: &Key) -> u64 {
        let charge = Charge::new(limit.clone(), key.clone()).with_cost(0);
        let decision = self.apply(Operation::Acquire(charge.into())).await;
        let Ok(decision) = decision else {
            panic!("the store cannot decide");
        };
        decision.tiers()[0].verdict().remaining()
    }
}

impl TestStore for MemoryStore {
    fn nodes<const N: usize>(clock: &ManualClock) -> [Self; N] {
        let store = Self::builder().clock(clock.clone()).build();
        std::array::from_fn(|_| store.clone())
    }
}

impl TestStore for RedisStore {
    fn nodes<const N: usize>(clock: &ManualClock) -> [Self; N] {
        static SERVER: OnceLock<RedisServer> = OnceLock::new();
        static CASES: AtomicU32 = AtomicU32::new(0);
        let server = SERVER.get_or_init(RedisServer::start);
        let prefix = format!("case-{}", CASES.fetch_add(1, Ordering::Relaxed));
        std::array::from_fn(|_| {
            let store = server.store().prefix(&prefix).clock(clock.clone());
            store.build().unwrap()
        })
    }
}
