//! A cluster that loses a primary, and slots that move from node to node.

use tollgate::{Charge, Charges, Key, Operation, Store};

use support::{
    cluster::Cluster,
    patience::eventually,
    redis::{RedisServer, info},
};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Seen, Tally, charged, is_exact, is_replicated, key_of, limit},
    left::{every_key_ends, nothing_is_left_at},
};

fn node(mode: Mode, cluster: &Cluster) -> Node {
    Node::new(mode, cluster.store())
}

/// Users whose keys are all in one slot, and which slot that is.
fn users<const N: usize>(cluster: &Cluster) -> ([String; N], u16) {
    let users = std::array::from_fn(|number| format!("{{together}}{number}"));
    let slot = cluster.slot_of(&key_of(&users[0]));
    (users, slot)
}

/// How often any node has said this.
fn said(cluster: &Cluster, error: &str) -> u64 {
    let count = |node: &RedisServer| info(&mut node.client(), "errorstats", &format!("errorstat_{error}:count="));
    cluster.nodes.iter().map(count).sum()
}

/// What its replica has is not lost: Redis admits [`LIMIT`] in both lifetimes together. Between them, what the owner chose.
/// The other nodes are not asked in vain for longer than the cluster is down.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_primary_is_killed() {
    let mut cluster = Cluster::start();
    let ([olga, carl, fred], slot) = users(&cluster);
    let nodes = [olga, carl, fred].into_iter().zip(MODES);
    let nodes: Vec<_> = nodes.map(|(user, mode)| (user, mode, node(mode, &cluster))).collect();
    for (user, _, node) in &nodes {
        node.store.check().await.unwrap();
        assert_eq!(node.ask_times(user, 30).await.of(Seen::Admitted), 30);
    }
    let old = cluster.node_of(slot);
    is_replicated(&mut cluster.client_of(slot), &key_of("{together}"), 1);

    cluster.nodes[old].kill();
    for (user, mode, node) in &nodes {
        let without = node.ask_times(user, 20).await;
        assert_eq!(without.without_redis(*mode), 20, "{without:?}");
        assert!(!node.store.health().is_up());
    }
    cluster.await_failover(slot, old);
    let redis = &mut cluster.client_of(slot);
    for (user, _, node) in &nodes {
        node.is_back().await;
        assert_eq!(charged(redis, user), 30);
        is_exact(node, redis, user).await;
    }
    let nodes = nodes.into_iter().map(|(_, _, node)| node);
    nothing_is_left_at(nodes, &cluster.nodes, 1).await;
}

/// A service that starts before its cluster does what its owner chose, and finds it by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_not_there_yet() {
    let mut cluster = Cluster::start();
    let ([user], slot) = users(&cluster);
    cluster.nodes.iter_mut().for_each(RedisServer::kill);
    let nodes = MODES.map(|mode| (mode, node(mode, &cluster)));
    for (mode, node) in &nodes {
        let without = node.ask_times(&user, 20).await;
        assert_eq!(without.without_redis(*mode), 20, "{without:?}");
        assert!(!node.store.health().is_up());
    }
    cluster.nodes.iter_mut().for_each(RedisServer::restart);
    cluster.await_slots();
    for (_, node) in &nodes {
        node.is_back().await;
    }
    let redis = &mut cluster.client_of(slot);
    assert_eq!(charged(redis, &user), 0);
    is_exact(&nodes[0].1, redis, &user).await;
    nothing_is_left_at(nodes.map(|(_, node)| node), &cluster.nodes, 1).await;
}

/// Nobody notices: every request is decided by Redis, and each user is admitted [`LIMIT`] to the count, whichever node has
/// the slot, and though its keys are on their way one by one.
#[tokio::test(flavor = "multi_thread")]
async fn slots_are_migrated_under_load() {
    let cluster = Cluster::start();
    let (users, slot) = users::<20>(&cluster);
    let nodes = [(); 2].map(|()| node(Mode::Closed, &cluster));
    let from = cluster.node_of(slot);
    let to = cluster.primaries().into_iter().find(|node| *node != from).unwrap();

    let load = |node: &Node| users.each_ref().map(|user| node.load(user, 1));
    let loads: Vec<_> = nodes.iter().flat_map(load).collect();
    eventually("everybody is charged", async || {
        users.iter().all(|user| charged(&mut cluster.client_of(slot), user) > 0)
    })
    .await;
    for to in [to, from, to] {
        let (asked, moved) = (said(&cluster, "ASK"), said(&cluster, "MOVED"));
        let migration = cluster.migrate(slot, to);
        for key in migration.keys() {
            migration.move_key(&key);
        }
        eventually("somebody is sent on", async || said(&cluster, "ASK") > asked).await;
        migration.finish();
        eventually("somebody is told where it is", async || said(&cluster, "MOVED") > moved).await;
    }
    let mut seen = Tally::default();
    for load in loads {
        seen.add(&load.stop().await);
    }
    for user in &users {
        seen.add(&nodes[0].ask_times(user, LIMIT).await);
    }
    assert_eq!(seen.without_redis(Mode::Closed), 0, "{seen:?}");
    assert_eq!(seen.of(Seen::Admitted), users.len() as u64 * LIMIT);
    let redis = &mut cluster.client_of(slot);
    for user in &users {
        assert_eq!(charged(redis, user), LIMIT);
    }
    every_key_ends(redis);
    nothing_is_left_at(nodes, &cluster.nodes, 1).await;
}

/// Step by step: a key that has moved is asked for where it is (ASK), and so is one that is new; keys of which some have
/// moved are waited for (TRYAGAIN), and then everybody knows where they are (MOVED).
#[tokio::test(flavor = "multi_thread")]
async fn a_slot_that_is_on_its_way() {
    let cluster = Cluster::start();
    let ([alice, bob, new], slot) = users(&cluster);
    let node = node(Mode::Closed, &cluster);
    assert_eq!(node.ask(&alice).await, Seen::Admitted);
    assert_eq!(node.ask(&bob).await, Seen::Admitted);

    let from = cluster.node_of(slot);
    let to = cluster.primaries().into_iter().find(|node| *node != from).unwrap();
    let migration = cluster.migrate(slot, to);
    migration.move_key(&key_of(&alice));
    for user in [&alice, &bob, &new] {
        assert_eq!(node.ask(user).await, Seen::Admitted);
    }
    assert_eq!(said(&cluster, "ASK"), 2);

    let both = tokio::spawn(node.store.apply(Operation::Acquire(tiers([&alice, &bob]))));
    eventually("they are told to wait", async || said(&cluster, "TRYAGAIN") > 2).await;
    assert!(!both.is_finished());
    migration.finish();
    let decision = both.await.unwrap().unwrap();
    let left: Vec<_> = decision.tiers().iter().map(|tier| tier.verdict().remaining()).collect();
    assert_eq!((decision.admits(), left), (true, vec![LIMIT - 3; 2]));

    let redis = &mut cluster.client_of(slot);
    for (user, times) in [(&alice, 3), (&bob, 3), (&new, 1)] {
        assert_eq!(charged(redis, user), times);
        is_exact(&node, redis, user).await;
    }
    nothing_is_left_at([node], &cluster.nodes, 1).await;
}

/// What the service charges these users, all or none.
fn tiers(users: [&String; 2]) -> Charges {
    let mut charges = Charges::new();
    for user in users {
        charges
            .push(Charge::new(limit("user"), Key::verbatim(user.clone())))
            .unwrap();
    }
    charges
}
