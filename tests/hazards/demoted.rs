//! A Redis that becomes a replica, and a primary again. It answers, but it charges nobody: what clients were told that
//! Redis had admitted is what it has charged, to the unit.

use tollgate::redis::Connection;

use support::{
    patience::{eventually, until},
    redis::{RedisServer, ask, calls},
};

use crate::hazards::{
    fixture::{MODES, Mode, Node, Seen, charged, charged_to_all, is_exact},
    left::{every_key_ends, nothing_is_left},
    together::{IN_FLIGHT, together},
};

/// Whether a replica without a primary tells what it has: it says READONLY to who needs something written. Otherwise
/// it says MASTERDOWN to everybody.
const STALE: [&str; 2] = ["yes", "no"];

/// Nobody is at that port.
fn demote(redis: &mut Connection) {
    ask::<()>(redis, "REPLICAOF 127.0.0.1 1");
}

fn promote(redis: &mut Connection) {
    ask::<()>(redis, "REPLICAOF NO ONE");
}

async fn each(test: impl AsyncFn(Mode, &str, RedisServer)) {
    for mode in MODES {
        for stale in STALE {
            test(
                mode,
                stale,
                RedisServer::start_with(&["--replica-serve-stale-data", stale]),
            )
            .await;
        }
    }
}

/// Once it is a primary again, Alice has been charged what was admitted before, and the rest is exact.
async fn heals_with_ten_charged(node: Node, redis: &mut Connection, server: &RedisServer) {
    promote(redis);
    node.is_back().await;
    assert_eq!(charged(redis, "alice"), 10);
    is_exact(&node, redis, "alice").await;
    nothing_is_left([node], server, 1).await;
}

#[tokio::test]
async fn replicaof_and_back() {
    each(async |mode, _, server| {
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        demote(redis);
        assert_eq!(node.ask_times("alice", 50).await.without_redis(mode), 50);
        assert!(!node.store.health().is_up());
        heals_with_ten_charged(node, redis, &server).await;
    })
    .await;
}

/// In a call of several, each is told so on its own, inside of a reply that is none of an error.
#[tokio::test]
async fn replicaof_in_the_middle_of_a_batch() {
    each(async |mode, stale, server| {
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1));
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        let before = calls(redis, "evalsha");
        let seen = together(&node, redis, ["alice"; 20], demote).await;
        assert_eq!(seen.without_redis(mode), 20);
        if stale == "yes" {
            assert_eq!(calls(redis, "evalsha"), before + IN_FLIGHT + 1);
        }
        // The two in flight shared a connection, and so a failure. With that of the others it makes two: the next is the
        // third.
        assert!(node.store.health().is_up());
        assert_eq!(node.ask_times("alice", 1).await.without_redis(mode), 1);
        assert!(!node.store.health().is_up());
        heals_with_ten_charged(node, redis, &server).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replicaof_under_load() {
    each(async |mode, _, server| {
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        let load = node.crowd(8);
        for _ in 0..3 {
            let before = charged_to_all(redis);
            until("somebody is charged", || charged_to_all(redis) > before);
            demote(redis);
            eventually("it is found out", async || !node.store.health().is_up()).await;
            promote(redis);
            node.is_back().await;
        }
        let seen = load.stop().await;
        assert!(seen.without_redis(mode) > 0, "{seen:?}");
        assert_eq!(charged_to_all(redis), seen.of(Seen::Admitted));
        every_key_ends(redis);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    })
    .await;
}
