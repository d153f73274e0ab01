//! Redis out of memory with `noeviction`.
//!
//! It still denies requests of exhausted keys, which needs no write. A request that would be charged fails alone, and the
//! circuit breaker stays closed.

use tollgate::redis::Connection;

use support::redis::{RedisServer, query};

use crate::hazards::{
    batch::in_one_batch,
    fixture::{LIMIT, MODES, Node, Response, Tally, assert_exact, charged, charged_to_all},
    leaks::{assert_keys_expire, assert_no_leaks},
};

fn start() -> RedisServer {
    RedisServer::start_with(&["--maxmemory-policy", "noeviction"])
}

fn fill(redis: &mut Connection) {
    query::<()>(redis, "CONFIG SET maxmemory 1");
}

fn free_memory(redis: &mut Connection) {
    query::<()>(redis, "CONFIG SET maxmemory 0");
}

#[tokio::test]
async fn out_of_memory_and_back() {
    for mode in MODES {
        let server = start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        assert_eq!(
            node.request_times("exhausted", LIMIT).await.of(Response::Admitted),
            LIMIT
        );
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        fill(redis);
        assert_eq!(node.request_times("alice", 50).await.without_redis(mode), 50);
        assert_eq!(node.request_times("new", 50).await.without_redis(mode), 50);
        assert_eq!(node.request_times("exhausted", 50).await.of(Response::Denied), 50);
        assert!(node.store.health().is_up());
        assert_eq!((charged(redis, "alice"), charged(redis, "new")), (10, 0));
        free_memory(redis);
        assert_eq!(node.request("alice").await, Response::Admitted);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

/// Each request of a batch gets the response that it would get alone.
#[tokio::test]
async fn out_of_memory_during_a_batch() {
    for mode in MODES {
        let server = start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1).max_calls_in_flight(2));
        assert_eq!(
            node.request_times("exhausted", LIMIT).await.of(Response::Admitted),
            LIMIT
        );
        let tally = in_one_batch(&node, redis, ["alice", "exhausted"].repeat(10), fill).await;
        assert_eq!(
            (tally.without_redis(mode), tally.of(Response::Denied)),
            (10, 10),
            "{tally:?}"
        );
        assert!(node.store.health().is_up());
        free_memory(redis);
        assert_eq!(charged(redis, "alice"), 0);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

/// The admitted requests are exactly the charged ones.
#[tokio::test(flavor = "multi_thread")]
async fn out_of_memory_under_load() {
    for mode in MODES {
        let server = start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        let load = node.load_by_many_users(8);
        let mut tally = Tally::default();
        for _ in 0..10 {
            fill(redis);
            tally.count(node.request("alice").await);
            free_memory(redis);
            assert_eq!(node.request("alice").await, Response::Admitted);
            assert!(node.store.health().is_up());
        }
        assert_eq!(tally.without_redis(mode), 10);
        assert_eq!(charged(redis, "alice"), 10);
        let tally = load.stop().await;
        tally.assert_mode(mode);
        assert_eq!(charged_to_all(redis), 10 + tally.of(Response::Admitted));
        assert_keys_expire(redis);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}
