//! A test per store, on a clock of the test's that stands still.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

use tollgate::{Charge, Key, Limit, ManualClock, MemoryStore, Micros, Operation, RedisStore, Store};

use super::redis::RedisServer;

/// A quarter past 15 seconds into a minute, so that nothing is round.
pub const NOW: Micros = 615_250_000;

/// A test per store of each of these: `async fn name<St: TestStore>()`.
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
    /// As many nodes that share what they count, with nobody else.
    fn nodes<const N: usize>(clock: &ManualClock) -> [Self; N];

    /// A store of its own, at [`NOW`].
    fn fresh() -> (Self, ManualClock) {
        let clock = ManualClock::at(NOW);
        let [store] = Self::nodes(&clock);
        (store, clock)
    }

    /// What is left of a limit, by the word of the store.
    async fn left(&self, limit: &Limit, key: &Key) -> u64 {
        let charge = Charge::new(limit.clone(), key.clone()).cost(0);
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
