//! Requests whose keys are on several nodes: charged in all tiers or in none, as far as a cluster allows.

use std::time::Duration;

use tokio::task::yield_now;
use tollgate::{AsError, Key, ManualClock, Operation, RateLimitLayer, RedisStore, Rejection, Store, StoreError, Tier};
use tower::{BoxError, Layer, ServiceExt, service_fn};

use super::fixture::{
    LIMIT, advance, builder, charge, charged, charges, key, names_on_each_node, remaining, shared_cluster, store,
    window,
};
use support::{
    cluster::Cluster,
    leaks::tasks,
    redis::{DEADLINE, acquire, calls, poll_once, query, stored},
    wait::{eventually, stop_clock, with_timeout, yield_until},
};

#[tokio::test]
async fn all_are_charged_or_none() {
    let (cluster, prefix) = (shared_cluster(), "all");
    let store = store(cluster, prefix);
    let names = names_on_each_node(cluster, prefix);
    let [a, b, c] = names.each_ref().map(String::as_str);
    let limit = u64::from(LIMIT);
    acquire(&store, charge(b).with_cost(LIMIT - 3)).await;
    for n in 1..=3 {
        let decision = acquire(&store, charges([a, b, c])).await;
        assert!(decision.admits());
        assert_eq!(remaining(&decision), [limit - n, 3 - n, limit - n]);
    }
    for _ in 0..3 {
        let decision = acquire(&store, charges([c, b, a])).await;
        assert!(!decision.admits() && decision.retry_after().is_some());
        // Tiers that would have admitted report their remaining units, in the order of the charges.
        assert_eq!(remaining(&decision), [limit - 3, 0, limit - 3]);
        let outcomes = decision.tiers().iter().map(|tier| tier.verdict().outcome().name());
        assert_eq!(outcomes.collect::<Vec<_>>(), ["admitted", "limited", "admitted"]);
    }
    assert_eq!([a, b, c].map(|name| charged(cluster, prefix, name)), [3, limit, 3]);
}

/// A shadow tier never denies the request, and is charged exactly when all other tiers are.
#[tokio::test]
async fn a_shadow_is_charged_with_the_others_or_not_at_all() {
    let (cluster, prefix) = (shared_cluster(), "shadow");
    let store = store(cluster, prefix);
    let names = names_on_each_node(cluster, prefix);
    let [a, b, c] = names.each_ref().map(String::as_str);
    let tiers = || {
        let mut tiers = charges([a, b]);
        tiers.push(charge(c).shadow()).unwrap();
        tiers
    };
    acquire(&store, charge(b).with_cost(LIMIT - 2)).await;
    acquire(&store, charge(c).with_cost(LIMIT - 1)).await;
    for admitted in [true, true, false] {
        assert_eq!(acquire(&store, tiers()).await.admits(), admitted);
    }
    let limit = u64::from(LIMIT);
    assert_eq!([a, b, c].map(|name| charged(cluster, prefix, name)), [2, limit, limit]);
}

#[tokio::test]
async fn refund_settle_and_reset_reach_every_node() {
    let (cluster, prefix) = (shared_cluster(), "back");
    let store = store(cluster, prefix);
    let names = names_on_each_node(cluster, prefix);
    let all = || charges(names.iter().map(String::as_str));
    let counted = || names.each_ref().map(|name| charged(cluster, prefix, name));
    let mut first = acquire(&store, all()).await;
    let mut second = acquire(&store, all()).await;
    assert_eq!(counted(), [2; 3]);
    let refund = Operation::Refund(first.take_receipt().unwrap());
    assert_eq!(remaining(&store.apply(refund).await.unwrap()), [9; 3]);
    assert_eq!(counted(), [1; 3]);
    let settle = Operation::Settle(second.take_receipt().unwrap().settled(4));
    assert_eq!(remaining(&store.apply(settle).await.unwrap()), [6; 3]);
    assert_eq!(counted(), [4; 3]);
    assert_eq!(remaining(&store.apply(Operation::Reset(all())).await.unwrap()), [10; 3]);
    assert_eq!(counted(), [0; 3]);
}

/// Partial charges of a dropped request are refunded.
#[tokio::test]
async fn a_dropped_request_is_charged_on_every_node_or_on_none() {
    let (cluster, prefix) = (shared_cluster(), "dropped");
    let store = store(cluster, prefix);
    let names = names_on_each_node(cluster, prefix);
    let all = || charges(names.iter().map(String::as_str));
    let counted = || names.each_ref().map(|name| charged(cluster, prefix, name));
    acquire(&store, all()).await;
    for dropped in 1..=2 * u64::from(LIMIT) {
        let mut call = store.apply(Operation::Acquire(all()));
        poll_once(&mut call).await;
        drop(call);
        // Each connection has a task.
        yield_until(async || tasks() == 2 * 3).await;
        assert_eq!(counted(), [u64::from(LIMIT).min(1 + dropped); 3]);
    }
}

/// A refund for which the request's deadline leaves no time is completed after the response.
#[tokio::test]
async fn a_refund_is_completed_after_the_deadline() {
    let cluster = Cluster::start();
    let prefix = "late";
    let store = builder(&cluster, prefix)
        .pool_size(1)
        .clock(ManualClock::at(0))
        .build()
        .unwrap();
    let [taken, full, _] = names_on_each_node(&cluster, prefix);
    acquire(&store, charge(&taken)).await;
    acquire(&store, charge(&full).with_cost(LIMIT)).await;
    let [mut taken_node, mut full_node] =
        [&taken, &full].map(|name| cluster.client_of(cluster.slot_of(&key(prefix, name))));
    let start = |names: &[&str]| tokio::spawn(store.apply(Operation::Acquire(charges(names.iter().copied()))));
    query::<()>(&mut full_node, "CLIENT PAUSE 600000 WRITE");
    let denied = start(&[&taken, &full]);
    eventually("one tier is charged", async || charged(&cluster, prefix, &taken) == 2).await;
    advance(DEADLINE / 2).await;
    // Two calls in flight, so that the refund is queued.
    query::<()>(&mut taken_node, "CLIENT PAUSE 600000 WRITE");
    let mut in_flight = Vec::new();
    for _ in 0..2 {
        in_flight.push(start(&[&taken]));
        // Runs the spawned request, then the sender task.
        for _ in 0..2 {
            yield_now().await;
        }
    }
    query::<()>(&mut full_node, "CLIENT UNPAUSE");
    // The other tier denies before it answers this call.
    acquire(&store, charge(&full).with_cost(0)).await;
    advance(DEADLINE / 2).await;
    assert!(!denied.await.unwrap().unwrap().admits());
    query::<()>(&mut taken_node, "CLIENT UNPAUSE");
    for decision in in_flight {
        assert!(decision.await.unwrap().unwrap().admits());
    }
    eventually("the charge is refunded", async || {
        charged(&cluster, prefix, &taken) == 3
    })
    .await;
}

/// A cached denial needs no calls, and no charges with refunds.
#[tokio::test]
async fn a_denial_of_several_nodes_is_cached() {
    let cluster = Cluster::start();
    let prefix = "cached";
    let store = builder(&cluster, prefix).build().unwrap();
    let names = names_on_each_node(&cluster, prefix);
    let all = || charges(names.iter().map(String::as_str));
    // The cache expires after a second.
    let clock = stop_clock();
    acquire(&store, charge(&names[0]).with_cost(LIMIT)).await;
    let denied = acquire(&store, all()).await;
    assert!(!denied.admits());
    let call_counts = || -> Vec<_> {
        let nodes = cluster.nodes.iter();
        nodes.map(|node| calls(&mut node.client(), "evalsha")).collect()
    };
    let before = call_counts();
    for _ in 0..10 {
        let cached = acquire(&store, all()).await;
        assert!(!cached.admits());
        assert_eq!(remaining(&cached), remaining(&denied));
    }
    clock.end().await;
    assert_eq!(call_counts(), before);
}

/// A denial because of a charge that is refunded afterwards is not repeated from the cache.
#[tokio::test]
async fn a_denial_before_a_refund_is_not_cached() {
    let cluster = Cluster::start();
    let prefix = "refunded";
    let store = builder(&cluster, prefix).build().unwrap();
    let [last, full, _] = names_on_each_node(&cluster, prefix);
    let [mut last_node, mut full_node] =
        [&last, &full].map(|name| cluster.client_of(cluster.slot_of(&key(prefix, name))));
    // The cache expires after a second.
    let clock = stop_clock();
    assert!(acquire(&store, charge(&last).with_cost(LIMIT - 1)).await.admits());
    assert!(acquire(&store, charge(&full).with_cost(LIMIT)).await.admits());
    query::<()>(&mut full_node, "CLIENT PAUSE 600000 WRITE");
    let group = tokio::spawn(store.apply(Operation::Acquire(charges([last.as_str(), &full]))));
    let mut count = || {
        let state = stored(&mut last_node, &key(prefix, &last)).unwrap();
        state.split_once(' ').unwrap().1.to_owned()
    };
    yield_until(async || count() == LIMIT.to_string()).await;
    // The charge of the group is the reason for this denial.
    assert!(!acquire(&store, charge(&last)).await.admits());
    query::<()>(&mut full_node, "CLIENT UNPAUSE");
    assert!(!group.await.unwrap().unwrap().admits());
    assert!(acquire(&store, charge(&last)).await.admits());
    clock.end().await;
}

/// A denial that does not cover every tier is not queued: the retry could be admitted by the remaining tiers alone.
async fn assert_partial_denial_is_not_queued(store: RedisStore, full: &str, other: &str) {
    let [full, other] = [full, other].map(|name| {
        let key = Key::verbatim(name.to_owned());
        move |_: &()| key.clone()
    });
    let window = window();
    let layer = RateLimitLayer::new(Tier::new("limit", window, full), store)
        .tier(Tier::new("other", window, other))
        .respond_with(AsError)
        .wait(Duration::from_secs(24 * 60 * 60));
    let service = layer.layer(service_fn(async |()| Ok::<_, BoxError>(())));
    let why = with_timeout(service.oneshot(())).await.unwrap_err();
    assert!(matches!(why.downcast_ref(), Some(Rejection::Limited(_))), "{why:?}");
}

/// A denial by one node stands while another node is down; an admission fails, and its charges are refunded.
#[tokio::test]
async fn cluster_node_down() {
    let mut cluster = Cluster::start();
    let prefix = "down";
    let store = store(&cluster, prefix);
    let names = names_on_each_node(&cluster, prefix);
    let [up, full, down] = names.each_ref().map(String::as_str);
    acquire(&store, charges([up, full, down])).await;
    acquire(&store, charge(full).with_cost(LIMIT - 1)).await;
    let node = cluster.node_of(cluster.slot_of(&key(prefix, down)));
    // A key of another limit on the same node.
    let other = |name: &String| key(prefix, name).replace(":limit:", ":other:");
    let is_on_node = |name: &String| cluster.node_of(cluster.slot_of(&other(name))) == node;
    let other = (0..).map(|number| format!("name{number}")).find(is_on_node).unwrap();
    cluster.kill_owner(cluster.slot_of(&key(prefix, down)));
    let denied = acquire(&store, charges([up, full, down])).await;
    assert!(!denied.admits());
    assert_eq!(remaining(&denied), [9, 0]);
    assert_partial_denial_is_not_queued(store.clone(), full, &other).await;
    let error = store.apply(Operation::Acquire(charges([up, down]))).await.unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }), "{error:?}");
    assert_eq!(remaining(&acquire(&store, charge(up).with_cost(0)).await), [9]);
}
