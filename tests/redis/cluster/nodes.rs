//! Routing of calls to nodes.

use tokio::task::{JoinSet, yield_now};
use tollgate::{ManualClock, Operation, RedisStore, Store, StoreError};

use super::fixture::{LIMIT, builder, charge, charged, key, names_on_each_node, remaining, shared_cluster, store};
use support::{
    cluster::Cluster,
    redis::{DEADLINE, acquire, calls, keys, query},
};

#[tokio::test]
async fn check_covers_every_node() {
    let cluster = Cluster::start();
    let store = store(&cluster, "checked");
    store.check().await.unwrap();
    let health = store.health();
    assert!(health.is_up());
    assert_eq!(health.nodes().len(), 3);
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
        // Missing permissions are detected on any node.
        query::<()>(redis, "ACL SETUSER default -@write");
        let error = store.check().await.unwrap_err();
        assert!(error.to_string().contains("; allow the user the commands"), "{error}");
        query::<()>(redis, "ACL SETUSER default +@all");
        store.check().await.unwrap();
    }
}

/// One address is enough to discover the other nodes.
#[tokio::test]
async fn calls_are_routed_to_the_node_of_the_key() {
    let (cluster, prefix) = (shared_cluster(), "where");
    for url in cluster.urls() {
        let builder = RedisStore::builder().cluster([url]).prefix(prefix);
        let store = builder.deadline(DEADLINE).build().unwrap();
        for name in names_on_each_node(cluster, prefix) {
            store.apply(Operation::Reset(charge(&name).into())).await.unwrap();
            for n in 1..=u64::from(LIMIT) {
                let decision = acquire(&store, charge(&name)).await;
                assert_eq!(remaining(&decision), [u64::from(LIMIT) - n]);
            }
            assert!(!acquire(&store, charge(&name)).await.admits());
        }
    }
}

/// Queued requests for one slot share a call, as on a standalone Redis.
#[tokio::test]
async fn requests_for_a_hot_key_are_batched() {
    let cluster = Cluster::start();
    let prefix = "hot";
    let builder = builder(&cluster, prefix).pool_size(1).max_calls_in_flight(2);
    let store = builder.clock(ManualClock::at(0)).build().unwrap();
    acquire(&store, charge("hot")).await;
    let redis = &mut cluster.client_of(cluster.slot_of(&key(prefix, "hot")));
    let before = calls(redis, "evalsha");
    // Two calls are in flight, one sent inline and one by the sender task. Further requests are queued, up to 128 per batch.
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut requests = JoinSet::new();
    for _ in 0..2 + 500 {
        requests.spawn(store.apply(Operation::Acquire(charge("hot").into())));
        // Runs the spawned request, then the sender task.
        for _ in 0..2 {
            yield_now().await;
        }
    }
    query::<()>(redis, "CLIENT UNPAUSE");
    let mut admitted = 1;
    while let Some(decision) = requests.join_next().await {
        admitted += u64::from(decision.unwrap().unwrap().admits());
    }
    assert_eq!(admitted, u64::from(LIMIT));
    assert_eq!(charged(&cluster, prefix, "hot"), u64::from(LIMIT));
    assert_eq!(calls(redis, "evalsha"), before + 2 + 4);
}

/// A store that is configured for a standalone Redis returns an error with advice.
#[tokio::test]
async fn a_cluster_node_used_as_standalone_is_an_error() {
    let (cluster, prefix) = (shared_cluster(), "standalone");
    let names = names_on_each_node(cluster, prefix);
    let first = cluster.nodes[cluster.primaries()[0]].url();
    let standalone = RedisStore::builder()
        .url(&first)
        .prefix(prefix)
        .deadline(DEADLINE)
        .build()
        .unwrap();
    assert!(acquire(&standalone, charge(&names[0])).await.admits());
    let error = standalone
        .apply(Operation::Acquire(charge(&names[1]).into()))
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::Server { .. }) && !error.may_have_charged(),
        "{error:?}"
    );
    let advice = "this is a node of a cluster: name its nodes with builder().cluster(..)";
    assert!(error.to_string().ends_with(advice), "{error}");
    let clustered = builder(cluster, prefix).build().unwrap();
    assert!(acquire(&clustered, charge(&names[1])).await.admits());
}
