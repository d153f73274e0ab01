//! Sentinel failover.

use support::{redis::RedisServer, sentinel::Sentinels, wait::eventually};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Response, assert_exact, await_replication, charged},
    leaks::assert_no_leaks_on,
};

fn node(mode: Mode, sentinels: &Sentinels) -> Node {
    Node::new(mode, sentinels.store())
}

fn user(mode: Mode) -> &'static str {
    match mode {
        Mode::Open => "olga",
        Mode::Closed => "carl",
        Mode::Fallback => "fred",
    }
}

/// Replicated charges survive the failover: both primaries together admit [`LIMIT`]. In between, the failure mode applies.
#[tokio::test(flavor = "multi_thread")]
async fn sentinel_failover() {
    let mut sentinels = Sentinels::start();
    let nodes = MODES.map(|mode| (mode, node(mode, &sentinels)));
    let old = sentinels.primary();
    for (mode, node) in &nodes {
        node.store.check().await.unwrap();
        assert_eq!(node.request_times(user(*mode), 30).await.of(Response::Admitted), 30);
    }
    await_replication(&mut sentinels.servers[old].client(), "replicated", 2);

    sentinels.servers[old].kill();
    for (mode, node) in &nodes {
        let without = node.request_times(user(*mode), 20).await;
        assert_eq!(without.without_redis(*mode), 20, "{without:?}");
        assert!(!node.store.health().is_up());
    }
    let new = sentinels.await_failover(old);
    let redis = &mut sentinels.servers[new].client();
    for (mode, node) in &nodes {
        node.until_recovered().await;
        assert_eq!(charged(redis, user(*mode)), 30);
        assert_exact(node, redis, user(*mode)).await;
    }
    let nodes = nodes.map(|(_, node)| node);
    assert_no_leaks_on(nodes, servers(&sentinels), 1).await;
}

/// Charges that were not replicated are admitted again: each primary admits at most [`LIMIT`]. Calls in flight are not sent
/// again. The old primary restarts as a replica, which the store does not use.
#[tokio::test(flavor = "multi_thread")]
async fn sentinel_failover_under_load() {
    let mut sentinels = Sentinels::start();
    let nodes = [(); 2].map(|()| node(Mode::Closed, &sentinels));
    let old = sentinels.primary();
    let loads = nodes.each_ref().map(|node| node.load("alice", 4));
    eventually("the limit is exhausted", async || {
        charged(&mut sentinels.servers[old].client(), "alice") == LIMIT
    })
    .await;
    sentinels.servers[old].kill();
    let new = sentinels.await_failover(old);
    sentinels.servers[old].restart();
    sentinels.await_replicas(2);
    for node in &nodes {
        node.until_recovered().await;
    }
    let redis = &mut sentinels.servers[new].client();
    eventually("the limit is exhausted again", async || {
        charged(&mut sentinels.servers[new].client(), "alice") == LIMIT
    })
    .await;
    let mut admitted = 0;
    for load in loads {
        let tally = load.stop().await;
        tally.assert_mode(Mode::Closed);
        admitted += tally.of(Response::Admitted);
    }
    assert!((LIMIT..=2 * LIMIT).contains(&admitted), "{admitted}");
    assert_exact(&nodes[0], redis, "bob").await;
    assert_no_leaks_on(nodes, servers(&sentinels), 1).await;
}

/// The store queries the other sentinels without waiting for an unresponsive one.
#[tokio::test]
async fn unresponsive_sentinel() {
    let sentinels = Sentinels::start();
    sentinels.sentinels[0].freeze();
    let node = node(Mode::Closed, &sentinels);
    let redis = &mut sentinels.servers[sentinels.primary()].client();
    assert_exact(&node, redis, "alice").await;
    sentinels.sentinels[0].thaw();
    assert_no_leaks_on([node], servers(&sentinels), 1).await;
}

fn servers(sentinels: &Sentinels) -> impl Iterator<Item = &RedisServer> {
    sentinels.servers.iter().chain(&sentinels.sentinels)
}
