//! Stores with three lanes, and what they have charged.

use tollgate::{
    Charge, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisStore, RedisStoreBuilder, Store,
    redis::Connection,
};

use support::{
    patience::yielding,
    redis::{RedisServer, info, stored},
};

pub(crate) const LANES: usize = 3;
pub(crate) const LIMIT: u32 = 1000;

/// A store on a clock that stands still, so that no window ends while a test runs.
pub(crate) fn builder(server: &RedisServer) -> RedisStoreBuilder {
    server.store().pool_size(LANES).clock(ManualClock::at(0))
}

pub(crate) fn acquire() -> Operation {
    let limit = Limit::new("name", FixedWindow::new(Quota::per_day(LIMIT)));
    Operation::Acquire(Charge::new(limit, Key::new("key")).into())
}

/// A call for every lane, until all are connected and Redis knows the program.
pub(crate) async fn warm_up(store: &RedisStore, redis: &mut Connection) {
    for _ in 0..LANES {
        assert!(store.apply(acquire()).await.unwrap().admits());
    }
    // The lanes, and the client that asks.
    yielding(async || info(redis, "clients", "connected_clients:") == LANES as u64 + 1).await;
}

/// What has been charged, by the word of Redis.
pub(crate) fn charged(redis: &mut Connection) -> u64 {
    let state = stored(redis, "rate_limit:fixed_window:name:86400000000:key");
    state.map_or(0, |state| state.strip_prefix("0 ").unwrap().parse().unwrap())
}
