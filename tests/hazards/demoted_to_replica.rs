//! A primary that becomes a replica, and a primary again. A replica responds but charges nothing: the admitted requests are
//! exactly the charged ones.

use tollgate::redis::Connection;

use support::{
    redis::{RedisServer, calls, query},
    wait::{eventually, until},
};

use crate::hazards::{
    batch::{IN_FLIGHT, in_one_batch},
    fixture::{MODES, Mode, Node, Response, assert_exact, charged, charged_to_all},
    leaks::{assert_keys_expire, assert_no_leaks},
};

/// The values of `replica-serve-stale-data`: with `yes`, a replica without a primary answers writes with READONLY; with `no`,
/// it answers every command with MASTERDOWN.
const SERVE_STALE_DATA: [&str; 2] = ["yes", "no"];

/// Makes the server a replica of a port where no server listens.
fn demote(redis: &mut Connection) {
    query::<()>(redis, "REPLICAOF 127.0.0.1 1");
}

fn promote(redis: &mut Connection) {
    query::<()>(redis, "REPLICAOF NO ONE");
}

async fn each_mode(test: impl AsyncFn(Mode, &str, RedisServer)) {
    for mode in MODES {
        for stale in SERVE_STALE_DATA {
            test(
                mode,
                stale,
                RedisServer::start_with(&["--replica-serve-stale-data", stale]),
            )
            .await;
        }
    }
}

/// Once the server is a primary again, Alice has been charged ten, and the limit is exact.
async fn recovers_with_ten_charged(node: Node, redis: &mut Connection, server: &RedisServer) {
    promote(redis);
    node.until_recovered().await;
    assert_eq!(charged(redis, "alice"), 10);
    assert_exact(&node, redis, "alice").await;
    assert_no_leaks([node], server, 1).await;
}

#[tokio::test]
async fn replicaof_and_back() {
    each_mode(async |mode, _, server| {
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        demote(redis);
        assert_eq!(node.request_times("alice", 50).await.without_redis(mode), 50);
        assert!(!node.store.health().is_up());
        recovers_with_ten_charged(node, redis, &server).await;
    })
    .await;
}

/// The reply to a batch is not an error, but contains an error per request.
#[tokio::test]
async fn replicaof_during_a_batch() {
    each_mode(async |mode, stale, server| {
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1).max_calls_in_flight(2));
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        let before = calls(redis, "evalsha");
        let tally = in_one_batch(&node, redis, ["alice"; 20], demote).await;
        assert_eq!(tally.without_redis(mode), 20);
        if stale == "yes" {
            assert_eq!(calls(redis, "evalsha"), before + IN_FLIGHT + 1);
        }
        // The two calls in flight shared a connection and count as one failure, the batch as the second. The third opens the
        // circuit breaker.
        assert!(node.store.health().is_up());
        assert_eq!(node.request_times("alice", 1).await.without_redis(mode), 1);
        assert!(!node.store.health().is_up());
        recovers_with_ten_charged(node, redis, &server).await;
    })
    .await;
}

/// Before Redis 7, the error of a command that a script called is inside of another error; or of a text, in the reply to a batch.
#[tokio::test]
async fn redis_6_becomes_a_replica() {
    for mode in MODES {
        let server = RedisServer::oldest();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1).max_calls_in_flight(2));
        node.store.check().await.unwrap();
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        let tally = in_one_batch(&node, redis, ["alice"; 20], demote).await;
        assert_eq!(tally.without_redis(mode), 20);
        // The two calls in flight count as one failure, and the batch as the second.
        assert!(node.store.health().is_up());
        assert_eq!(node.request_times("alice", 1).await.without_redis(mode), 1);
        assert!(!node.store.health().is_up());
        promote(redis);
        node.until_recovered().await;
        assert_eq!(charged(redis, "alice"), 10);
        assert_exact(&node, redis, "alice").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn replicaof_under_load() {
    each_mode(async |mode, _, server| {
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        let load = node.load_by_many_users(8);
        for _ in 0..3 {
            let before = charged_to_all(redis);
            until("a request is charged", || charged_to_all(redis) > before);
            demote(redis);
            eventually("the circuit breaker is open", async || !node.store.health().is_up()).await;
            promote(redis);
            node.until_recovered().await;
        }
        let tally = load.stop().await;
        assert!(tally.without_redis(mode) > 0, "{tally:?}");
        assert_eq!(charged_to_all(redis), tally.of(Response::Admitted));
        assert_keys_expire(redis);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    })
    .await;
}
