//! Stores with three connections, and the charges they have made.

use tollgate::{
    Charge, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisStore, RedisStoreBuilder, Store,
    redis::Connection,
};

use support::{
    redis::{RedisServer, info, stored},
    wait::yield_until,
};

pub(crate) const CONNECTIONS: usize = 3;
pub(crate) const LIMIT: u32 = 1000;

/// A store on a manual clock, so that no window ends during a test.
pub(crate) fn builder(server: &RedisServer) -> RedisStoreBuilder {
    server.store().pool_size(CONNECTIONS).clock(ManualClock::at(0))
}

pub(crate) fn acquire() -> Operation {
    let limit = Limit::new("name", FixedWindow::new(Quota::per_day(LIMIT)));
    Operation::Acquire(Charge::new(limit, Key::new("key")).into())
}

/// Makes a call on every connection, so that all are established and the script is loaded.
pub(crate) async fn warm_up(store: &RedisStore, redis: &mut Connection) {
    for _ in 0..CONNECTIONS {
        assert!(store.apply(acquire()).await.unwrap().admits());
    }
    // The pool, and the client of the test.
    yield_until(async || info(redis, "clients", "connected_clients:") == CONNECTIONS as u64 + 1).await;
}

/// The units that Redis has charged.
pub(crate) fn charged(redis: &mut Connection) -> u64 {
    let state = stored(redis, "rate_limit:fixed_window:name:86400000000:key");
    state.map_or(0, |state| state.strip_prefix("0 ").unwrap().parse().unwrap())
}
