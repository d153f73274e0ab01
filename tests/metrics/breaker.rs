//! Whether each Redis is asked.

use tollgate::{Charge, Key, Limit, Operation, Quota, RedisStore, Store, TokenBucket};

use support::{
    patience::{eventually, yielding},
    redis::RedisServer,
};

use crate::recorded::Recorded;

/// How many stores do not ask this server; nothing, if nobody has said.
fn open(recorded: &Recorded, server: &RedisServer) -> Option<f64> {
    let server = format!("server=127.0.0.1:{}", server.port());
    recorded.levels("tollgate_breaker_open").get(&server).copied()
}

async fn ask(store: &RedisStore) -> bool {
    let limit = Limit::new("user", TokenBucket::new(Quota::per_day(1000)));
    let charge = Charge::new(limit, Key::GLOBAL);
    store.apply(Operation::Acquire(charge.into())).await.is_ok()
}

async fn until_open(store: &RedisStore) {
    yielding(async || {
        assert!(!ask(store).await);
        !store.health().is_up()
    })
    .await;
}

#[tokio::test]
async fn a_server_is_known_before_it_fails_and_stores_that_do_not_ask_it_add_up() {
    let recorded = Recorded::start();
    let mut server = RedisServer::start();
    let [first, second] = [(); 2].map(|()| server.store().build().unwrap());
    assert_eq!(open(&recorded, &server), Some(0.0));
    assert!(ask(&first).await && ask(&second).await);
    server.kill();
    until_open(&first).await;
    assert_eq!(open(&recorded, &server), Some(1.0));
    until_open(&second).await;
    assert_eq!(open(&recorded, &server), Some(2.0));
    server.restart();
    eventually("both ask again", async || {
        first.health().is_up() && second.health().is_up()
    })
    .await;
    assert!(ask(&first).await && ask(&second).await);
    assert_eq!(open(&recorded, &server), Some(0.0));
}

/// The total is told, so that it is right whenever a recorder comes.
#[tokio::test]
async fn a_store_that_is_dropped_is_not_open_any_more() {
    let mut server = RedisServer::start();
    let [left, stays] = [(); 2].map(|()| server.store().build().unwrap());
    server.kill();
    until_open(&left).await;
    until_open(&stays).await;
    let recorded = Recorded::start();
    assert_eq!(open(&recorded, &server), None);
    drop(left);
    eventually("its task has ended", async || open(&recorded, &server) == Some(1.0)).await;
    drop(stays);
    eventually("its task has ended", async || open(&recorded, &server) == Some(0.0)).await;
}
