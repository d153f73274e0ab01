//! Whom the store asks, and how often.

use tokio::task::{JoinSet, yield_now};
use tollgate::{ManualClock, Operation, RedisStore, Store, StoreError};

use super::fixture::{LIMIT, apart, builder, charge, charged, key, left, shared_cluster, store};
use support::{
    cluster::Cluster,
    redis::{DEADLINE, acquire, ask, calls, keys},
};

#[tokio::test]
async fn every_node_is_checked_at_start_up() {
    let cluster = Cluster::start();
    let store = store(&cluster, "checked");
    store.check().await.unwrap();
    let health = store.health();
    assert!(health.is_up());
    assert_eq!(health.servers().len(), 3);
    let mut primaries: Vec<_> = cluster
        .primaries()
        .iter()
        .map(|node| cluster.nodes[*node].client())
        .collect();
    for redis in &mut primaries {
        assert_eq!(calls(redis, "script|load"), 1);
        assert_eq!(keys(redis), Vec::<String>::new());
    }
    for redis in &mut primaries {
        // A user who may not is found out wherever that is.
        ask::<()>(redis, "ACL SETUSER default -@write");
        let error = store.check().await.unwrap_err();
        assert!(error.to_string().contains("; allow the user the commands"), "{error}");
        ask::<()>(redis, "ACL SETUSER default +@all");
        store.check().await.unwrap();
    }
}

/// One address is enough: its node knows the others.
#[tokio::test]
async fn a_key_is_asked_for_where_it_is() {
    let (cluster, prefix) = (shared_cluster(), "where");
    for url in cluster.urls() {
        let builder = RedisStore::builder().cluster([url]).prefix(prefix);
        let store = builder.deadline(DEADLINE).build().unwrap();
        for name in apart(cluster, prefix) {
            store.apply(Operation::Reset(charge(&name).into())).await.unwrap();
            for n in 1..=u64::from(LIMIT) {
                let decision = acquire(&store, charge(&name)).await;
                assert_eq!(left(&decision), [u64::from(LIMIT) - n]);
            }
            assert!(!acquire(&store, charge(&name)).await.admits());
        }
    }
}

/// Requests that wait for one slot share a call, as they do without a cluster.
#[tokio::test]
async fn a_hot_key_costs_calls_and_not_requests() {
    let cluster = Cluster::start();
    let prefix = "hot";
    let builder = builder(&cluster, prefix).pool_size(1);
    let store = builder.clock(ManualClock::at(0)).build().unwrap();
    acquire(&store, charge("hot")).await;
    let redis = &mut cluster.client_of(cluster.slot_of(&key(prefix, "hot")));
    let before = calls(redis, "evalsha");
    // Two are in flight: one leads, and the lane's task sends the other. Those that come meanwhile wait, and leave by 128.
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut requests = JoinSet::new();
    for _ in 0..2 + 500 {
        requests.spawn(store.apply(Operation::Acquire(charge("hot").into())));
        // On one thread, whoever was spawned gets his turn before this goes on: a request, and then who sends it.
        for _ in 0..2 {
            yield_now().await;
        }
    }
    ask::<()>(redis, "CLIENT UNPAUSE");
    let mut admitted = 1;
    while let Some(decision) = requests.join_next().await {
        admitted += u64::from(decision.unwrap().unwrap().admits());
    }
    assert_eq!(admitted, u64::from(LIMIT));
    assert_eq!(charged(&cluster, prefix, "hot"), u64::from(LIMIT));
    assert_eq!(calls(redis, "evalsha"), before + 2 + 4);
}

/// A store that was not told of the cluster says what to do about it.
#[tokio::test]
async fn one_node_taken_for_all_is_an_error_that_says_so() {
    let (cluster, prefix) = (shared_cluster(), "alone");
    let names = apart(cluster, prefix);
    let first = cluster.nodes[cluster.primaries()[0]].url();
    let alone = RedisStore::builder()
        .url(&first)
        .prefix(prefix)
        .deadline(DEADLINE)
        .build()
        .unwrap();
    assert!(acquire(&alone, charge(&names[0])).await.admits());
    let error = alone
        .apply(Operation::Acquire(charge(&names[1]).into()))
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::Refused { .. }) && !error.may_have_charged(),
        "{error:?}"
    );
    let advice = "this is a node of a cluster: name its nodes with builder().cluster(..)";
    assert!(error.to_string().ends_with(advice), "{error}");
    let together = builder(cluster, prefix).build().unwrap();
    assert!(acquire(&together, charge(&names[1])).await.admits());
}
