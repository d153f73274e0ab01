//! Lost connections are replaced, and no call is charged twice.

use tokio::runtime;
use tollgate::{RedisStore, Store, StoreError};

use super::fixture::{CONNECTIONS, acquire, builder, charged, warm_up};
use support::{
    redis::{RedisServer, info, poll_once, query},
    wait::eventually,
};

/// Makes sequential calls, of which one may fail per connection. Returns how many were admitted and how many failed.
async fn recover(store: &RedisStore) -> (u64, u64) {
    let (mut admitted, mut failures) = (0, Vec::new());
    for _ in 0..4 * CONNECTIONS {
        match store.apply(acquire()).await {
            Ok(decision) => admitted += u64::from(decision.admits()),
            Err(error) => failures.push(error),
        }
    }
    let lost = |error: &StoreError| matches!(error, StoreError::Connection { .. });
    assert!(
        failures.len() <= CONNECTIONS && failures.iter().all(lost),
        "{failures:?}"
    );
    (admitted, failures.len() as u64)
}

#[tokio::test]
async fn a_killed_connection_is_replaced_and_nothing_is_charged_twice() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    let mut before = charged(redis);
    for _ in 0..5 {
        assert!(query::<u64>(redis, "CLIENT KILL TYPE normal") > 0);
        let (admitted, failed) = recover(&store).await;
        let charged = charged(redis) - before;
        assert!(
            (admitted..=admitted + failed).contains(&charged),
            "{admitted} {failed} {charged}"
        );
        assert!(info(redis, "clients", "connected_clients:") <= CONNECTIONS as u64 + 1);
        before += charged;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_sent_is_not_sent_again() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let call = tokio::spawn(store.apply(acquire()));
    eventually("the call is blocked", async || {
        query::<String>(redis, "CLIENT LIST").contains(" flags=b ")
    })
    .await;
    query::<()>(redis, "CLIENT KILL TYPE normal");
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }), "{error:?}");
    query::<()>(redis, "CLIENT UNPAUSE");
    assert_eq!(charged(redis), CONNECTIONS as u64);
}

#[test]
fn a_store_outlives_the_runtime_that_it_was_first_used_on() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    let runtime = || runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime().block_on(warm_up(&store, redis));
    let before = charged(redis);
    let (admitted, failed) = runtime().block_on(recover(&store));
    let charged = charged(redis) - before;
    assert!(
        (admitted..=admitted + failed).contains(&charged),
        "{admitted} {failed} {charged}"
    );
}

/// The next call connects again if a runtime shut down while a connection was being established.
#[test]
fn a_store_outlives_a_runtime_that_ended_while_it_was_connecting() {
    let server = RedisServer::start();
    let store = builder(&server).build().unwrap();
    let runtime = || runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime().block_on(async {
        for _ in 0..CONNECTIONS {
            // The first poll begins to connect; then the call is dropped.
            poll_once(&mut store.apply(acquire())).await;
        }
    });
    let redis = &mut server.client();
    runtime().block_on(warm_up(&store, redis));
    assert_eq!(charged(redis), CONNECTIONS as u64);
}

/// A demoted node responds with errors.
#[tokio::test]
async fn a_connection_to_a_demoted_primary_is_replaced() {
    for stale in ["yes", "no"] {
        let server = RedisServer::start_with(&["--replica-serve-stale-data", stale]);
        let redis = &mut server.client();
        let store = builder(&server).pool_size(1).build().unwrap();
        store.apply(acquire()).await.unwrap();
        query::<()>(redis, "REPLICAOF 127.0.0.1 1");
        let before = info(redis, "stats", "total_connections_received:");
        // A third failure would open the circuit breaker.
        for n in 0..2 {
            let error = store.apply(acquire()).await.unwrap_err();
            assert!(
                matches!(error, StoreError::Server { .. }) && !error.may_have_charged(),
                "{error:?}"
            );
            assert_eq!(info(redis, "stats", "total_connections_received:"), before + n);
        }
        query::<()>(redis, "REPLICAOF NO ONE");
        assert!(store.apply(acquire()).await.unwrap().admits());
    }
}

#[tokio::test]
async fn other_connections_take_over_while_one_cannot_reconnect() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    let clients: String = query(redis, "CLIENT LIST");
    let pooled = clients
        .lines()
        .find(|client| client.contains("lib-name=tollgate") || client.contains("cmd=evalsha"));
    let id = pooled.unwrap().split(' ').next().unwrap().strip_prefix("id=").unwrap();
    // Open connections stay, and new ones are rejected.
    query::<()>(redis, "CONFIG SET maxclients 3");
    assert_eq!(query::<u64>(redis, &format!("CLIENT KILL ID {id}")), 1);
    query::<()>(redis, "CONFIG SET maxclients 1");
    let mut failed = 0;
    for _ in 0..10 * CONNECTIONS {
        failed += u64::from(store.apply(acquire()).await.is_err());
    }
    assert!(failed <= 1, "{failed}");
}
