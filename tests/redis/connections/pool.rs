//! Pooled connections are shared by concurrent calls, and their number is bounded.

use tokio::task::JoinSet;
use tollgate::Store;

use super::fixture::{CONNECTIONS, LIMIT, acquire, builder, charged, warm_up};
use support::redis::{RedisServer, calls, info, query};

/// The maximal number of calls in flight.
const IN_FLIGHT: u64 = 4;

#[tokio::test]
async fn a_single_request_is_one_evalsha_and_queued_requests_share_one() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server)
        .max_calls_in_flight(IN_FLIGHT as usize)
        .build()
        .unwrap();
    warm_up(&store, redis).await;

    query::<()>(redis, "CONFIG RESETSTAT");
    for n in 1..=50 {
        store.apply(acquire()).await.unwrap();
        assert_eq!(calls(redis, "evalsha"), n);
    }
    // One call is sent inline, the others by sender tasks. Further requests are queued, up to 128 charges per batch.
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut requests = JoinSet::new();
    for _ in 0..IN_FLIGHT + 200 {
        requests.spawn(store.apply(acquire()));
        // Runs the spawned request, then the sender task.
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
    }
    query::<()>(redis, "CLIENT UNPAUSE");
    while let Some(decision) = requests.join_next().await {
        assert!(decision.unwrap().unwrap().admits());
    }
    assert_eq!(calls(redis, "evalsha"), 50 + IN_FLIGHT + 2);
    for never in ["ping", "unwatch", "script|load", "eval", "select", "auth", "hello"] {
        assert_eq!(calls(redis, never), 0, "{never}");
    }
    assert_eq!(charged(redis), CONNECTIONS as u64 + 50 + IN_FLIGHT + 200);
    // The pool, and the client of the test.
    assert!(info(redis, "clients", "connected_clients:") <= CONNECTIONS as u64 + 1);
}

#[tokio::test]
async fn a_burst_on_a_new_store_opens_at_most_pool_size_connections() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    let mut requests: JoinSet<_> = (0..100).map(|_| store.apply(acquire())).collect();
    while let Some(decision) = requests.join_next().await {
        assert!(decision.unwrap().unwrap().admits());
    }
    assert_eq!(charged(redis), 100);
    // The pool, and the client of the test.
    assert!(info(redis, "stats", "total_connections_received:") <= CONNECTIONS as u64 + 1);
}

#[tokio::test]
async fn a_flushed_script_is_loaded_again_and_the_call_charged_once() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    for n in 1..=5 {
        query::<()>(redis, "SCRIPT FLUSH");
        let decision = store.apply(acquire()).await.unwrap();
        let used = CONNECTIONS as u64 + n;
        assert_eq!(decision.tiers()[0].verdict().remaining(), u64::from(LIMIT) - used);
        assert_eq!(charged(redis), used);
    }
}
