//! The gauge of open circuit breakers.

use tollgate::{Charge, Key, Limit, Operation, Quota, RedisStore, Store, TokenBucket};

use support::{
    redis::RedisServer,
    wait::{eventually, yield_until},
};

use crate::recorder::TestRecorder;

/// How many stores have an open circuit breaker for this server; `None` if the gauge was never set.
fn open(recorded: &TestRecorder, server: &RedisServer) -> Option<f64> {
    let server = format!("server=127.0.0.1:{}", server.port());
    recorded.levels("tollgate_circuit_breaker_open").get(&server).copied()
}

async fn acquire(store: &RedisStore) -> bool {
    let limit = Limit::new("user", TokenBucket::new(Quota::per_day(1000)));
    let charge = Charge::new(limit, Key::GLOBAL);
    store.apply(Operation::Acquire(charge.into())).await.is_ok()
}

async fn until_open(store: &RedisStore) {
    yield_until(async || {
        assert!(!acquire(store).await);
        !store.health().is_up()
    })
    .await;
}

#[tokio::test]
async fn the_gauge_starts_at_zero_and_adds_up_over_stores() {
    let recorded = TestRecorder::start();
    let mut server = RedisServer::start();
    let [first, second] = [(); 2].map(|()| server.store().build().unwrap());
    assert_eq!(open(&recorded, &server), Some(0.0));
    assert!(acquire(&first).await && acquire(&second).await);
    server.kill();
    until_open(&first).await;
    assert_eq!(open(&recorded, &server), Some(1.0));
    until_open(&second).await;
    assert_eq!(open(&recorded, &server), Some(2.0));
    server.restart();
    eventually("both circuit breakers are closed", async || {
        first.health().is_up() && second.health().is_up()
    })
    .await;
    assert!(acquire(&first).await && acquire(&second).await);
    assert_eq!(open(&recorded, &server), Some(0.0));
}

/// The gauge is set to the total, so that it is right even if the recorder is installed late.
#[tokio::test]
async fn a_dropped_store_no_longer_counts() {
    let mut server = RedisServer::start();
    let [first, second] = [(); 2].map(|()| server.store().build().unwrap());
    server.kill();
    until_open(&first).await;
    until_open(&second).await;
    let recorded = TestRecorder::start();
    assert_eq!(open(&recorded, &server), None);
    drop(first);
    eventually("its task has ended", async || open(&recorded, &server) == Some(1.0)).await;
    drop(second);
    eventually("its task has ended", async || open(&recorded, &server) == Some(0.0)).await;
}
