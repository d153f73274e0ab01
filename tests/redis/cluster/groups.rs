//! A request whose keys are at several nodes: all or none, as far as that can be had.

use std::time::Duration;

use tollgate::{AsError, Key, Operation, RateLimitLayer, RedisStore, Rejection, Store, StoreError};
use tower::{BoxError, Layer, ServiceExt, service_fn};

use super::fixture::{LIMIT, apart, builder, charge, charged, charges, key, left, shared_cluster, store, window};
use support::{
    cluster::Cluster,
    leaks::tasks,
    patience::{patiently, stand_still, yielding},
    redis::{acquire, ask, begin, calls},
};

#[tokio::test]
async fn all_are_charged_or_none() {
    let (cluster, prefix) = (shared_cluster(), "all");
    let store = store(cluster, prefix);
    let names = apart(cluster, prefix);
    let [a, b, c] = names.each_ref().map(String::as_str);
    let limit = u64::from(LIMIT);
    acquire(&store, charge(b).cost(LIMIT - 3)).await;
    for n in 1..=3 {
        let decision = acquire(&store, charges([a, b, c])).await;
        assert!(decision.admits());
        assert_eq!(left(&decision), [limit - n, 3 - n, limit - n]);
    }
    for _ in 0..3 {
        let decision = acquire(&store, charges([c, b, a])).await;
        assert!(!decision.admits() && decision.retry_after().is_some());
        // Those that would have admitted tell what they have, and in the order in which they were asked.
        assert_eq!(left(&decision), [limit - 3, 0, limit - 3]);
        let told = decision.tiers().iter().map(|tier| tier.verdict().outcome().name());
        assert_eq!(told.collect::<Vec<_>>(), ["admitted", "limited", "admitted"]);
    }
    assert_eq!([a, b, c].map(|name| charged(cluster, prefix, name)), [3, limit, 3]);
}

/// A shadow never refuses, and is charged when all others are; one that refuses in its own slot leaves the others alone.
#[tokio::test]
async fn a_shadow_is_charged_with_the_others_or_not_at_all() {
    let (cluster, prefix) = (shared_cluster(), "shadow");
    let store = store(cluster, prefix);
    let names = apart(cluster, prefix);
    let [a, b, c] = names.each_ref().map(String::as_str);
    let tiers = || {
        let mut tiers = charges([a, b]);
        tiers.push(charge(c).shadow()).unwrap();
        tiers
    };
    acquire(&store, charge(b).cost(LIMIT - 2)).await;
    acquire(&store, charge(c).cost(LIMIT - 1)).await;
    for admitted in [true, true, false] {
        assert_eq!(acquire(&store, tiers()).await.admits(), admitted);
    }
    let limit = u64::from(LIMIT);
    assert_eq!([a, b, c].map(|name| charged(cluster, prefix, name)), [2, limit, limit]);
}

#[tokio::test]
async fn what_was_charged_is_given_back_corrected_and_forgotten_wherever_it_is() {
    let (cluster, prefix) = (shared_cluster(), "back");
    let store = store(cluster, prefix);
    let names = apart(cluster, prefix);
    let all = || charges(names.iter().map(String::as_str));
    let counted = || names.each_ref().map(|name| charged(cluster, prefix, name));
    let mut first = acquire(&store, all()).await;
    let mut second = acquire(&store, all()).await;
    assert_eq!(counted(), [2; 3]);
    let refund = Operation::Refund(first.take_receipt().unwrap());
    assert_eq!(left(&store.apply(refund).await.unwrap()), [9; 3]);
    assert_eq!(counted(), [1; 3]);
    let settle = Operation::Settle(second.take_receipt().unwrap().settled(4));
    assert_eq!(left(&store.apply(settle).await.unwrap()), [6; 3]);
    assert_eq!(counted(), [4; 3]);
    assert_eq!(left(&store.apply(Operation::Reset(all())).await.unwrap()), [10; 3]);
    assert_eq!(counted(), [0; 3]);
}

/// Nobody has to stay for what was taken to be given back.
#[tokio::test]
async fn who_leaves_is_charged_everywhere_or_nowhere() {
    let (cluster, prefix) = (shared_cluster(), "leaves");
    let store = store(cluster, prefix);
    let names = apart(cluster, prefix);
    let all = || charges(names.iter().map(String::as_str));
    let counted = || names.each_ref().map(|name| charged(cluster, prefix, name));
    acquire(&store, all()).await;
    for left_early in 1..=2 * u64::from(LIMIT) {
        let mut call = store.apply(Operation::Acquire(all()));
        begin(&mut call).await;
        drop(call);
        // The connections have a task each.
        yielding(async || tasks() == 2 * 3).await;
        assert_eq!(counted(), [u64::from(LIMIT).min(1 + left_early); 3]);
    }
}

/// Said once, a refusal is repeated without asking anybody, and without taking and giving back.
#[tokio::test]
async fn a_refusal_of_several_is_repeated() {
    let cluster = Cluster::start();
    let prefix = "repeated";
    let store = builder(&cluster, prefix).build().unwrap();
    let names = apart(&cluster, prefix);
    let all = || charges(names.iter().map(String::as_str));
    // It is repeated for a second, and no time goes by here.
    let still = stand_still();
    acquire(&store, charge(&names[0]).cost(LIMIT)).await;
    let said = acquire(&store, all()).await;
    assert!(!said.admits());
    let called = || -> Vec<_> {
        let nodes = cluster.nodes.iter();
        nodes.map(|node| calls(&mut node.client(), "evalsha")).collect()
    };
    let before = called();
    for _ in 0..10 {
        let repeated = acquire(&store, all()).await;
        assert!(!repeated.admits());
        assert_eq!(left(&repeated), left(&said));
    }
    still.end().await;
    assert_eq!(called(), before);
}

/// What cannot be asked for every tier is not waited for either: in the end it would be admitted by the others alone.
async fn nobody_waits_for_a_part(store: RedisStore, full: &str, other: &str) {
    let [full, other] = [full, other].map(|name| {
        let key = Key::verbatim(name.to_owned());
        move |_: &()| key.clone()
    });
    let window = window();
    let layer = RateLimitLayer::new("limit", window, full, store)
        .tier("other", window, other)
        .respond_with(AsError)
        .wait(Duration::from_secs(24 * 60 * 60));
    let service = layer.layer(service_fn(async |()| Ok::<_, BoxError>(())));
    let why = patiently(service.oneshot(())).await.unwrap_err();
    assert!(matches!(why.downcast_ref(), Some(Rejection::Limited(_))), "{why:?}");
}

/// A refusal stands though another part cannot be asked; an admission does not, and what it took is given back.
#[tokio::test]
async fn a_node_that_is_gone() {
    let mut cluster = Cluster::start();
    let prefix = "gone";
    let store = store(&cluster, prefix);
    let names = apart(&cluster, prefix);
    let [there, full, gone] = names.each_ref().map(String::as_str);
    acquire(&store, charges([there, full, gone])).await;
    acquire(&store, charge(full).cost(LIMIT - 1)).await;
    // The others go on without it, and nobody takes its place.
    for node in &cluster.nodes {
        let redis = &mut node.client();
        ask::<()>(redis, "CONFIG SET cluster-require-full-coverage no");
        ask::<()>(redis, "CONFIG SET cluster-replica-no-failover yes");
    }
    let node = cluster.node_of(cluster.slot_of(&key(prefix, gone)));
    // Another limit's key that is there, too.
    let other = |name: &String| key(prefix, name).replace(":limit:", ":other:");
    let is_there = |name: &String| cluster.node_of(cluster.slot_of(&other(name))) == node;
    let other = (0..).map(|number| format!("name{number}")).find(is_there).unwrap();
    cluster.nodes[node].kill();
    let refused = acquire(&store, charges([there, full, gone])).await;
    assert!(!refused.admits());
    assert_eq!(left(&refused), [9, 0]);
    nobody_waits_for_a_part(store.clone(), full, &other).await;
    let error = store
        .apply(Operation::Acquire(charges([there, gone])))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }), "{error:?}");
    assert_eq!(left(&acquire(&store, charge(there).cost(0)).await), [9]);
}
