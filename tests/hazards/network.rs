//! Latency, a network partition, and a dropped firewall state. The pool has one connection, so that the requests it carries are
//! known.

use std::time::Duration;

use tokio::time;

use support::{
    proxy::{Direction, Proxy},
    redis::{DEADLINE, RedisServer},
    wait::{eventually, until},
};

use crate::hazards::{
    fixture::{CONNECT_TIMEOUT, MODES, Mode, Node, Response, assert_exact, charged},
    leaks::assert_no_leaks_behind_proxy,
};

/// Longer than a test. The proxy uses the real clock, so requests reach their deadline on the paused clock first.
const LATENCY: Duration = Duration::from_secs(3600);

/// A service with one connection to Redis, which has charged ten requests.
async fn behind_a_proxy(mode: Mode) -> (RedisServer, Proxy, Node) {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let node = Node::new(mode, server.store().url(&proxy.url()).pool_size(1));
    assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
    (server, proxy, node)
}

/// Requests without a reply: one waits for its deadline, two for a new connection; then the circuit breaker is open, and
/// requests fail fast.
async fn assert_unresponsive(node: &Node, mode: Mode) {
    // The paused clock advances to the deadline when the runtime is idle.
    time::pause();
    node.requests_time_out(mode, "alice", [DEADLINE, CONNECT_TIMEOUT, CONNECT_TIMEOUT])
        .await;
    assert!(!node.store.health().is_up());
    let begun = time::Instant::now();
    assert_eq!(node.request_times("alice", 50).await.without_redis(mode), 50);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    time::resume();
}

/// The request that had a connection arrives late and is charged once. The two after it waited for a connection.
#[tokio::test]
async fn latency_beyond_the_deadline() {
    for mode in MODES {
        for direction in [Direction::ToServer, Direction::ToClient] {
            let (server, mut proxy, node) = behind_a_proxy(mode).await;
            let redis = &mut server.client();
            proxy.delay(direction, LATENCY);
            assert_unresponsive(&node, mode).await;
            proxy.heal();
            node.until_recovered().await;
            until("the late request is charged", || charged(redis, "alice") == 11);
            assert_eq!(node.request("alice").await, Response::Admitted);
            assert_eq!(charged(redis, "alice"), 12);
            assert_exact(&node, redis, "alice").await;
            assert_no_leaks_behind_proxy([node], proxy, &server, 1).await;
        }
    }
}

/// The store does not send a lost request again.
#[tokio::test]
async fn network_partition() {
    for mode in MODES {
        let (server, mut proxy, node) = behind_a_proxy(mode).await;
        let redis = &mut server.client();
        proxy.blackhole();
        assert_unresponsive(&node, mode).await;
        proxy.heal();
        node.until_recovered().await;
        assert_eq!(charged(redis, "alice"), 10);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks_behind_proxy([node], proxy, &server, 1).await;
    }
}

/// One request times out on the dead connection, and the next one opens a new connection. The circuit breaker stays closed.
#[tokio::test]
async fn connection_dropped_by_a_firewall() {
    for mode in MODES {
        let (server, mut proxy, node) = behind_a_proxy(mode).await;
        let redis = &mut server.client();
        proxy.blackhole();
        proxy.heal();
        time::pause();
        assert!(mode.allows(node.request("alice").await));
        time::resume();
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        assert!(node.store.health().is_up());
        assert_eq!(proxy.total_connections(), 2);
        assert_eq!(charged(redis, "alice"), 20);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks_behind_proxy([node], proxy, &server, 1).await;
    }
}

/// The circuit breaker opens before each of many dead connections has failed a call. When it closes again, none of them is left.
#[tokio::test]
async fn many_connections_dropped_by_a_firewall() {
    const CONNECTIONS: usize = 8;
    let server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let node = Node::new(Mode::Closed, server.store().url(&proxy.url()).pool_size(CONNECTIONS));
    eventually("all connections are made", async || {
        assert_eq!(node.request("bob").await, Response::Admitted);
        proxy.total_connections() == CONNECTIONS
    })
    .await;
    proxy.blackhole();
    proxy.heal();
    time::pause();
    node.requests_time_out(Mode::Closed, "alice", [DEADLINE; 3]).await;
    assert!(!node.store.health().is_up());
    time::resume();
    node.until_recovered().await;
    assert_eq!(node.request_times("alice", 20).await.of(Response::Admitted), 20);
    assert_no_leaks_behind_proxy([node], proxy, &server, 0).await;
}
