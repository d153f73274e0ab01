//! A network that is slow, or loses everything and says nothing. There is one connection, so that it is known whose request
//! it carries.

use std::time::Duration;

use tokio::time;

use support::{
    patience::until,
    proxy::{Proxy, Way},
    redis::{DEADLINE, RedisServer},
};

use crate::hazards::{
    fixture::{CONNECTING, MODES, Mode, Node, Seen, charged, is_exact},
    left::nothing_is_left_behind,
};

/// Longer than a test takes. The proxy goes by a clock that does not leap, so whoever waits runs out of time before.
const LATE: Duration = Duration::from_secs(3600);

/// A service with one connection to its Redis, which has charged ten requests.
async fn behind_a_proxy(mode: Mode) -> (RedisServer, Proxy, Node) {
    let server = RedisServer::start();
    let proxy = Proxy::to(server.port());
    let node = Node::new(mode, server.store().url(&proxy.url()).pool_size(1));
    assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
    (server, proxy, node)
}

/// Requests while no answer comes: three find out, one that there is none, two that there is no other connection to be had.
/// From then on nobody waits.
async fn nobody_answers(node: &Node, mode: Mode) {
    // With nothing left to do but wait, the runtime's clock leaps to the deadline.
    time::pause();
    node.ask_in_vain(mode, "alice", [DEADLINE, CONNECTING, CONNECTING])
        .await;
    assert!(!node.store.health().is_up());
    let begun = time::Instant::now();
    assert_eq!(node.ask_times("alice", 50).await.without_redis(mode), 50);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    time::resume();
}

/// What is late arrives, and is charged once: the one request that had a connection. The two after it waited for one.
#[tokio::test]
async fn latency_beyond_the_deadline() {
    for mode in MODES {
        for way in [Way::ToServer, Way::ToClient] {
            let (server, mut proxy, node) = behind_a_proxy(mode).await;
            let redis = &mut server.client();
            proxy.delay(way, LATE);
            nobody_answers(&node, mode).await;
            proxy.pass();
            node.is_back().await;
            until("it has arrived", || charged(redis, "alice") == 11);
            assert_eq!(node.ask("alice").await, Seen::Admitted);
            assert_eq!(charged(redis, "alice"), 12);
            is_exact(&node, redis, "alice").await;
            nothing_is_left_behind([node], proxy, &server, 1).await;
        }
    }
}

/// What is lost is not sent again, by the network or by the store.
#[tokio::test]
async fn a_network_that_loses_everything() {
    for mode in MODES {
        let (server, mut proxy, node) = behind_a_proxy(mode).await;
        let redis = &mut server.client();
        proxy.drop_bytes();
        nobody_answers(&node, mode).await;
        proxy.pass();
        node.is_back().await;
        assert_eq!(charged(redis, "alice"), 10);
        is_exact(&node, redis, "alice").await;
        nothing_is_left_behind([node], proxy, &server, 1).await;
    }
}

/// Whoever uses it finds out, and the next one is given another: nothing is wrong with Redis.
#[tokio::test]
async fn a_connection_that_a_firewall_forgets() {
    for mode in MODES {
        let (server, mut proxy, node) = behind_a_proxy(mode).await;
        let redis = &mut server.client();
        proxy.drop_bytes();
        proxy.pass();
        time::pause();
        assert!(mode.allows(node.ask("alice").await));
        time::resume();
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        assert!(node.store.health().is_up());
        assert_eq!(proxy.made(), 2);
        assert_eq!(charged(redis, "alice"), 20);
        is_exact(&node, redis, "alice").await;
        nothing_is_left_behind([node], proxy, &server, 1).await;
    }
}
