//! Connections closed in the middle of a reply. Redis has executed the call: the request is charged and not sent again.

use support::{
    proxy::Proxy,
    redis::{RedisServer, calls},
    wait::until,
};

use crate::hazards::{
    batch::{IN_FLIGHT, in_one_batch},
    fixture::{MODES, Node, Response, assert_exact, charged, charged_to_all},
    leaks::{assert_keys_expire, assert_no_leaks_behind_proxy},
};

/// The bytes of the reply that arrive.
const REPLY_BYTES: [usize; 3] = [0, 1, 9];

#[tokio::test]
async fn connection_closed_during_a_reply() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let proxy = Proxy::to(server.port());
        let node = Node::new(
            mode,
            server.store().url(&proxy.url()).pool_size(1).max_calls_in_flight(2),
        );
        let mut expected = 0;
        for (lost, bytes) in (1..).zip(REPLY_BYTES) {
            assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
            proxy.cut_after(bytes);
            assert!(mode.allows(node.request("alice").await));
            expected += 11;
            assert_eq!(charged(redis, "alice"), expected);
            assert_eq!(proxy.total_connections(), lost);
        }
        // One failed call in eleven does not open the circuit breaker.
        assert!(node.store.health().is_up());
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks_behind_proxy([node], proxy, &server, 1).await;
    }
}

/// All requests of a batch lose their reply.
#[tokio::test]
async fn connection_closed_during_a_batch_reply() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let proxy = Proxy::to(server.port());
        let node = Node::new(
            mode,
            server.store().url(&proxy.url()).pool_size(1).max_calls_in_flight(2),
        );
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        // A reply to one request has at most seven numbers of nine bytes: the replies to the two calls in flight arrive, and a
        // part of the batch's reply.
        let tally = in_one_batch(&node, redis, ["alice"; 50], |_| proxy.cut_after(200)).await;
        assert_eq!(tally.of(Response::Admitted), IN_FLIGHT);
        assert_eq!(tally.without_redis(mode), 50 - IN_FLIGHT);
        assert_eq!(charged(redis, "alice"), 60);
        assert!(node.store.health().is_up());
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks_behind_proxy([node], proxy, &server, 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_closed_under_load() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let proxy = Proxy::to(server.port());
        let node = Node::new(mode, server.store().url(&proxy.url()));
        let load = node.load_by_many_users(8);
        for round in 0..30 {
            let connections = proxy.total_connections();
            match round % 3 {
                0 => proxy.cut(),
                bytes => proxy.cut_after(bytes),
            }
            // Successful calls in between keep the circuit breaker closed, so that every lost request was sent.
            let executed = calls(redis, "evalsha");
            until("the connection is replaced", || {
                proxy.total_connections() > connections && calls(redis, "evalsha") > executed + 20
            });
        }
        let tally = load.stop().await;
        node.until_recovered().await;
        let lost = tally.without_redis(mode);
        let admitted = tally.of(Response::Admitted);
        let charged = charged_to_all(redis);
        assert!((admitted..=admitted + lost).contains(&charged), "{tally:?} {charged}");
        assert_keys_expire(redis);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks_behind_proxy([node], proxy, &server, 1).await;
    }
}
