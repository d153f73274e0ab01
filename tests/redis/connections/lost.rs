//! Connections that are lost: replaced, and nothing is charged twice.

use tokio::runtime;
use tollgate::{RedisStore, Store, StoreError};

use super::fixture::{LANES, acquire, builder, charged, warm_up};
use support::{
    patience::eventually,
    redis::{RedisServer, ask, begin, info},
};

/// Makes calls one after another, of which one may fail for every lane. Returns how many were admitted, and how many
/// failed.
async fn recover(store: &RedisStore) -> (u64, u64) {
    let (mut admitted, mut failures) = (0, Vec::new());
    for _ in 0..4 * LANES {
        match store.apply(acquire()).await {
            Ok(decision) => admitted += u64::from(decision.admits()),
            Err(error) => failures.push(error),
        }
    }
    let lost = |error: &StoreError| matches!(error, StoreError::Connection { .. });
    assert!(failures.len() <= LANES && failures.iter().all(lost), "{failures:?}");
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
        assert!(ask::<u64>(redis, "CLIENT KILL TYPE normal") > 0);
        let (admitted, failed) = recover(&store).await;
        let charged = charged(redis) - before;
        assert!(
            (admitted..=admitted + failed).contains(&charged),
            "{admitted} {failed} {charged}"
        );
        assert!(info(redis, "clients", "connected_clients:") <= LANES as u64 + 1);
        before += charged;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_sent_is_not_sent_again() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let call = tokio::spawn(store.apply(acquire()));
    eventually("it is held back", async || {
        ask::<String>(redis, "CLIENT LIST").contains(" flags=b ")
    })
    .await;
    ask::<()>(redis, "CLIENT KILL TYPE normal");
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }), "{error:?}");
    ask::<()>(redis, "CLIENT UNPAUSE");
    assert_eq!(charged(redis), LANES as u64);
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

/// A runtime can end while a connection is being made: whoever comes next begins anew.
#[test]
fn a_store_outlives_a_runtime_that_ended_while_it_was_connecting() {
    let server = RedisServer::start();
    let store = builder(&server).build().unwrap();
    let runtime = || runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime().block_on(async {
        for _ in 0..LANES {
            // Polled once, which begins to connect, and then let go of.
            begin(&mut store.apply(acquire())).await;
        }
    });
    let redis = &mut server.client();
    runtime().block_on(warm_up(&store, redis));
    assert_eq!(charged(redis), LANES as u64);
}

/// A node that was demoted answers, but not what it is asked.
#[tokio::test]
async fn a_connection_to_a_node_that_is_no_primary_any_more_is_replaced() {
    for stale in ["yes", "no"] {
        let server = RedisServer::start_with(&["--replica-serve-stale-data", stale]);
        let redis = &mut server.client();
        let store = builder(&server).pool_size(1).build().unwrap();
        store.apply(acquire()).await.unwrap();
        ask::<()>(redis, "REPLICAOF 127.0.0.1 1");
        let before = info(redis, "stats", "total_connections_received:");
        // A third failure would be one too many for it to be asked again.
        for n in 0..2 {
            let error = store.apply(acquire()).await.unwrap_err();
            assert!(
                matches!(error, StoreError::Refused { .. }) && !error.may_have_charged(),
                "{error:?}"
            );
            assert_eq!(info(redis, "stats", "total_connections_received:"), before + n);
        }
        ask::<()>(redis, "REPLICAOF NO ONE");
        assert!(store.apply(acquire()).await.unwrap().admits());
    }
}

#[tokio::test]
async fn while_one_lane_cannot_connect_the_others_do_its_work() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    let clients: String = ask(redis, "CLIENT LIST");
    let lane = clients
        .lines()
        .find(|client| client.contains("lib-name=tollgate") || client.contains("cmd=evalsha"));
    let id = lane.unwrap().split(' ').next().unwrap().strip_prefix("id=").unwrap();
    // Whoever is there may stay, and nobody may come.
    ask::<()>(redis, "CONFIG SET maxclients 3");
    assert_eq!(ask::<u64>(redis, &format!("CLIENT KILL ID {id}")), 1);
    ask::<()>(redis, "CONFIG SET maxclients 1");
    let mut failed = 0;
    for _ in 0..10 * LANES {
        failed += u64::from(store.apply(acquire()).await.is_err());
    }
    assert!(failed <= 1, "{failed}");
}
