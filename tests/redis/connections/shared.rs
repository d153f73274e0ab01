//! Connections that are shared: never checked out per call, and no more than there may be.

use tokio::task::JoinSet;
use tollgate::Store;

use super::fixture::{LANES, LIMIT, acquire, builder, charged, warm_up};
use support::redis::{RedisServer, ask, calls, info};

#[tokio::test]
async fn a_request_alone_is_one_evalsha_and_those_that_wait_share_one() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;

    ask::<()>(redis, "CONFIG RESETSTAT");
    for n in 1..=50 {
        store.apply(acquire()).await.unwrap();
        assert_eq!(calls(redis, "evalsha"), n);
    }
    // One leads, and each lane's task sends one. Those that come meanwhile wait, and leave by 128 charges at most.
    let in_flight = 1 + LANES as u64;
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut requests = JoinSet::new();
    for _ in 0..in_flight + 200 {
        requests.spawn(store.apply(acquire()));
        // On one thread, whoever was spawned gets his turn before this goes on: a request, and then who sends it.
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
    }
    ask::<()>(redis, "CLIENT UNPAUSE");
    while let Some(decision) = requests.join_next().await {
        assert!(decision.unwrap().unwrap().admits());
    }
    assert_eq!(calls(redis, "evalsha"), 50 + in_flight + 2);
    for never in ["ping", "unwatch", "script|load", "eval", "select", "auth", "hello"] {
        assert_eq!(calls(redis, never), 0, "{never}");
    }
    assert_eq!(charged(redis), LANES as u64 + 50 + in_flight + 200);
    // The lanes, and the client that asks.
    assert!(info(redis, "clients", "connected_clients:") <= LANES as u64 + 1);
}

#[tokio::test]
async fn a_burst_on_a_new_store_opens_no_more_connections_than_it_may() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    let mut requests: JoinSet<_> = (0..100).map(|_| store.apply(acquire())).collect();
    while let Some(decision) = requests.join_next().await {
        assert!(decision.unwrap().unwrap().admits());
    }
    assert_eq!(charged(redis), 100);
    // The lanes, and the client that asks.
    assert!(info(redis, "stats", "total_connections_received:") <= LANES as u64 + 1);
}

#[tokio::test]
async fn a_forgotten_program_is_loaded_again_and_charged_once() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    for n in 1..=5 {
        ask::<()>(redis, "SCRIPT FLUSH");
        let decision = store.apply(acquire()).await.unwrap();
        let used = LANES as u64 + n;
        assert_eq!(decision.tiers()[0].verdict().remaining(), u64::from(LIMIT) - used);
        assert_eq!(charged(redis), used);
    }
}
