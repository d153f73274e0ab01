//! A primary that dies, and sentinels that make a replica the primary.

use support::{patience::eventually, redis::RedisServer, sentinel::Sentinels};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Seen, charged, is_exact, is_replicated},
    left::nothing_is_left_at,
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

/// What a replica has when its primary dies is not lost: with it, Redis admits [`LIMIT`] in both lifetimes together.
/// Between them, what the owner chose.
#[tokio::test(flavor = "multi_thread")]
async fn sentinel_failover() {
    let mut sentinels = Sentinels::start();
    let nodes = MODES.map(|mode| (mode, node(mode, &sentinels)));
    let old = sentinels.primary();
    for (mode, node) in &nodes {
        node.store.check().await.unwrap();
        assert_eq!(node.ask_times(user(*mode), 30).await.of(Seen::Admitted), 30);
    }
    is_replicated(&mut sentinels.servers[old].client(), "heard", 2);

    sentinels.servers[old].kill();
    for (mode, node) in &nodes {
        let without = node.ask_times(user(*mode), 20).await;
        assert_eq!(without.without_redis(*mode), 20, "{without:?}");
        assert!(!node.store.health().is_up());
    }
    let new = sentinels.await_failover(old);
    let redis = &mut sentinels.servers[new].client();
    for (mode, node) in &nodes {
        node.is_back().await;
        assert_eq!(charged(redis, user(*mode)), 30);
        is_exact(node, redis, user(*mode)).await;
    }
    let nodes = nodes.map(|(_, node)| node);
    nothing_is_left_at(nodes, servers(&sentinels), 1).await;
}

/// What the primary had answered for and no replica had heard of is admitted again: each lifetime admits [`LIMIT`] at most,
/// and what is in flight is not sent again. One that comes back is a replica, which nobody asks.
#[tokio::test(flavor = "multi_thread")]
async fn sentinel_failover_under_load() {
    let mut sentinels = Sentinels::start();
    let nodes = [(); 2].map(|()| node(Mode::Closed, &sentinels));
    let old = sentinels.primary();
    let loads = nodes.each_ref().map(|node| node.load("alice", 4));
    eventually("all is taken", async || {
        charged(&mut sentinels.servers[old].client(), "alice") == LIMIT
    })
    .await;
    sentinels.servers[old].kill();
    let new = sentinels.await_failover(old);
    sentinels.servers[old].restart();
    sentinels.await_replicas(2);
    for node in &nodes {
        node.is_back().await;
    }
    let redis = &mut sentinels.servers[new].client();
    eventually("all is taken again", async || {
        charged(&mut sentinels.servers[new].client(), "alice") == LIMIT
    })
    .await;
    let mut admitted = 0;
    for load in loads {
        let seen = load.stop().await;
        seen.is_as_chosen(Mode::Closed);
        admitted += seen.of(Seen::Admitted);
    }
    assert!((LIMIT..=2 * LIMIT).contains(&admitted), "{admitted}");
    is_exact(&nodes[0], redis, "bob").await;
    nothing_is_left_at(nodes, servers(&sentinels), 1).await;
}

/// A sentinel that is silent does not keep the others from being heard.
#[tokio::test]
async fn a_sentinel_that_is_silent_is_not_waited_for() {
    let sentinels = Sentinels::start();
    sentinels.sentinels[0].freeze();
    let node = node(Mode::Closed, &sentinels);
    let redis = &mut sentinels.servers[sentinels.primary()].client();
    is_exact(&node, redis, "alice").await;
    sentinels.sentinels[0].thaw();
    nothing_is_left_at([node], servers(&sentinels), 1).await;
}

fn servers(sentinels: &Sentinels) -> impl Iterator<Item = &RedisServer> {
    sentinels.servers.iter().chain(&sentinels.sentinels)
}
