//! Cluster failover and slot migration.

use tokio::task::yield_now;
use tollgate::{Charge, Charges, Key, Operation, Store};

use support::{
    cluster::Cluster,
    redis::{RedisServer, calls, info, query},
    wait::eventually,
};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Response, Tally, assert_exact, await_replication, charged, key_of, limit},
    leaks::{assert_keys_expire, assert_no_leaks_on},
};

fn node(mode: Mode, cluster: &Cluster) -> Node {
    Node::new(mode, cluster.store())
}

/// Users whose keys share one slot, and that slot.
fn users<const N: usize>(cluster: &Cluster) -> ([String; N], u16) {
    let users = std::array::from_fn(|number| format!("{{together}}{number}"));
    let slot = cluster.slot_of(&key_of(&users[0]));
    (users, slot)
}

/// How often all nodes together have replied with this error.
fn error_count(cluster: &Cluster, error: &str) -> u64 {
    let count = |node: &RedisServer| info(&mut node.client(), "errorstats", &format!("errorstat_{error}:count="));
    cluster.nodes.iter().map(count).sum()
}

/// Replicated charges survive the failover: both primaries together admit [`LIMIT`]. In between, the failure mode applies.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_primary_is_killed() {
    let mut cluster = Cluster::start();
    let ([olga, carl, fred], slot) = users(&cluster);
    let nodes = [olga, carl, fred].into_iter().zip(MODES);
    let nodes: Vec<_> = nodes.map(|(user, mode)| (user, mode, node(mode, &cluster))).collect();
    for (user, _, node) in &nodes {
        node.store.check().await.unwrap();
        assert_eq!(node.request_times(user, 30).await.of(Response::Admitted), 30);
    }
    let old = cluster.node_of(slot);
    await_replication(&mut cluster.client_of(slot), &key_of("{together}"), 1);

    cluster.nodes[old].kill();
    for (user, mode, node) in &nodes {
        let without = node.request_times(user, 20).await;
        assert_eq!(without.without_redis(*mode), 20, "{without:?}");
        assert!(!node.store.health().is_up());
    }
    cluster.await_failover(slot, old);
    let redis = &mut cluster.client_of(slot);
    for (user, _, node) in &nodes {
        node.until_recovered().await;
        assert_eq!(charged(redis, user), 30);
        assert_exact(node, redis, user).await;
    }
    let nodes = nodes.into_iter().map(|(_, _, node)| node);
    assert_no_leaks_on(nodes, &cluster.nodes, 1).await;
}

/// A service that starts before its cluster uses the failure mode until it discovers the cluster.
#[tokio::test(flavor = "multi_thread")]
async fn cluster_down_at_startup() {
    let mut cluster = Cluster::start();
    let ([user], slot) = users(&cluster);
    cluster.nodes.iter_mut().for_each(RedisServer::kill);
    let nodes = MODES.map(|mode| (mode, node(mode, &cluster)));
    for (mode, node) in &nodes {
        let without = node.request_times(&user, 20).await;
        assert_eq!(without.without_redis(*mode), 20, "{without:?}");
        assert!(!node.store.health().is_up());
    }
    cluster.nodes.iter_mut().for_each(RedisServer::restart);
    cluster.await_slots();
    for (_, node) in &nodes {
        node.until_recovered().await;
    }
    let redis = &mut cluster.client_of(slot);
    assert_eq!(charged(redis, &user), 0);
    assert_exact(&nodes[0].1, redis, &user).await;
    assert_no_leaks_on(nodes.map(|(_, node)| node), &cluster.nodes, 1).await;
}

/// Redis decides every request, and each user is admitted exactly [`LIMIT`], though the keys move one by one.
#[tokio::test(flavor = "multi_thread")]
async fn slot_migration_under_load() {
    let cluster = Cluster::start();
    let (users, slot) = users::<20>(&cluster);
    let nodes = [(); 2].map(|()| node(Mode::Closed, &cluster));
    let from = cluster.node_of(slot);
    let to = cluster.primaries().into_iter().find(|node| *node != from).unwrap();

    let load = |node: &Node| users.each_ref().map(|user| node.load(user, 1));
    let loads: Vec<_> = nodes.iter().flat_map(load).collect();
    eventually("every user is charged", async || {
        users.iter().all(|user| charged(&mut cluster.client_of(slot), user) > 0)
    })
    .await;
    for to in [to, from, to] {
        let (asked, moved) = (error_count(&cluster, "ASK"), error_count(&cluster, "MOVED"));
        let migration = cluster.migrate(slot, to);
        for key in migration.keys() {
            migration.move_key(&key);
        }
        eventually("a call is redirected by ASK", async || {
            error_count(&cluster, "ASK") > asked
        })
        .await;
        migration.finish();
        eventually("a call is redirected by MOVED", async || {
            error_count(&cluster, "MOVED") > moved
        })
        .await;
    }
    let mut tally = Tally::default();
    for load in loads {
        tally.add(&load.stop().await);
    }
    for user in &users {
        tally.add(&nodes[0].request_times(user, LIMIT).await);
    }
    assert_eq!(tally.without_redis(Mode::Closed), 0, "{tally:?}");
    assert_eq!(tally.of(Response::Admitted), users.len() as u64 * LIMIT);
    let redis = &mut cluster.client_of(slot);
    for user in &users {
        assert_eq!(charged(redis, user), LIMIT);
    }
    assert_keys_expire(redis);
    assert_no_leaks_on(nodes, &cluster.nodes, 1).await;
}

/// During a migration, calls for moved and for new keys are redirected to the target (ASK), and calls for several keys of which
/// some have moved are retried (TRYAGAIN). Afterwards, calls are redirected once (MOVED).
#[tokio::test(flavor = "multi_thread")]
async fn redirects_during_slot_migration() {
    let cluster = Cluster::start();
    let ([alice, bob, new], slot) = users(&cluster);
    let node = node(Mode::Closed, &cluster);
    assert_eq!(node.request(&alice).await, Response::Admitted);
    assert_eq!(node.request(&bob).await, Response::Admitted);

    let from = cluster.node_of(slot);
    let to = cluster.primaries().into_iter().find(|node| *node != from).unwrap();
    let migration = cluster.migrate(slot, to);
    migration.move_key(&key_of(&alice));
    for user in [&alice, &bob, &new] {
        assert_eq!(node.request(user).await, Response::Admitted);
    }
    assert_eq!(error_count(&cluster, "ASK"), 2);

    let both = tokio::spawn(node.store.apply(Operation::Acquire(tiers([&alice, &bob]))));
    eventually("the call is retried after TRYAGAIN", async || {
        error_count(&cluster, "TRYAGAIN") > 2
    })
    .await;
    assert!(!both.is_finished());
    migration.finish();
    let decision = both.await.unwrap().unwrap();
    let remaining: Vec<_> = decision.tiers().iter().map(|tier| tier.verdict().remaining()).collect();
    assert_eq!((decision.admits(), remaining), (true, vec![LIMIT - 3; 2]));

    let redis = &mut cluster.client_of(slot);
    for (user, times) in [(&alice, 3), (&bob, 3), (&new, 1)] {
        assert_eq!(charged(redis, user), times);
        assert_exact(&node, redis, user).await;
    }
    assert_no_leaks_on([node], &cluster.nodes, 1).await;
}

/// One redirect shows that the slot map is outdated, so the store fetches it: calls for other slots that have moved are not redirected.
/// It asks the node that has redirected the call, since others may not know of it yet.
#[tokio::test(flavor = "multi_thread")]
async fn one_redirect_refreshes_the_slot_map() {
    let cluster = Cluster::start();
    let slot = |user: &String| cluster.slot_of(&key_of(user));
    let [from, to, ..] = cluster.primaries()[..] else {
        panic!("a cluster has several primaries");
    };
    let users = (0..).map(|number| format!("user{number}"));
    let users: Vec<_> = users
        .filter(|user| cluster.node_of(slot(user)) == from)
        .take(60)
        .collect();
    let node = node(Mode::Closed, &cluster);
    for user in &users {
        assert_eq!(node.request(user).await, Response::Admitted);
        cluster.migrate(slot(user), to).finish();
    }
    let fetches = || -> Vec<u64> {
        let nodes = cluster.nodes.iter();
        nodes.map(|node| calls(&mut node.client(), "cluster|slots")).collect()
    };
    let (mut expected, moved) = (fetches(), error_count(&cluster, "MOVED"));

    let mut users = users.iter();
    assert_eq!(node.request(users.next().unwrap()).await, Response::Admitted);
    assert_eq!(error_count(&cluster, "MOVED"), moved + 1);
    expected[from] += 1;
    eventually("the slot map is fetched", async || fetches() == expected).await;
    eventually("a call is not redirected", async || {
        let moved = error_count(&cluster, "MOVED");
        let user = users.next().expect("every call was redirected");
        assert_eq!(node.request(user).await, Response::Admitted);
        error_count(&cluster, "MOVED") == moved
    })
    .await;
    assert_no_leaks_on([node], &cluster.nodes, 0).await;
}

/// A batch is rejected for one request whose keys are being moved. The others are decided at once, while that one is retried.
#[tokio::test]
async fn tryagain_delays_only_the_request_that_needs_it() {
    let cluster = Cluster::start();
    let ([alice, bob, carol], slot) = users(&cluster);
    let node = Node::new(Mode::Closed, cluster.store().pool_size(1));
    for user in [&alice, &bob, &carol] {
        assert_eq!(node.request(user).await, Response::Admitted);
    }
    let from = cluster.node_of(slot);
    let to = cluster.primaries().into_iter().find(|node| *node != from).unwrap();
    let migration = cluster.migrate(slot, to);
    migration.move_key(&key_of(&alice));

    let redis = &mut cluster.nodes[from].client();
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let start = |operation: Charges| tokio::spawn(node.store.apply(Operation::Acquire(operation)));
    let inline = start(tiers([&carol]));
    run_senders().await;
    let by_sender = start(tiers([&carol]));
    run_senders().await;
    let both = start(tiers([&alice, &bob]));
    let alone = [start(tiers([&bob])), start(tiers([&carol]))];
    run_senders().await;
    query::<()>(redis, "CLIENT UNPAUSE");
    for decision in [inline, by_sender].into_iter().chain(alone) {
        assert!(decision.await.unwrap().unwrap().admits());
    }
    assert!(!both.is_finished());
    migration.finish();
    assert!(both.await.unwrap().unwrap().admits());
    let redis = &mut cluster.client_of(slot);
    for (user, times) in [(&alice, 2), (&bob, 3), (&carol, 4)] {
        assert_eq!(charged(redis, user), times);
    }
    assert_no_leaks_on([node], &cluster.nodes, 2).await;
}

/// Runs spawned requests, then the sender tasks.
async fn run_senders() {
    for _ in 0..2 {
        yield_now().await;
    }
}

/// Charges for these users as one group.
fn tiers<const N: usize>(users: [&String; N]) -> Charges {
    let mut charges = Charges::new();
    for user in users {
        charges
            .push(Charge::new(limit("user"), Key::verbatim(user.clone())))
            .unwrap();
    }
    charges
}
