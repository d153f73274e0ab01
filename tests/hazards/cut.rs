//! Connections that are cut while Redis replies. It has done what it was asked, and nobody will ever know: whoever lost
//! his reply is charged, and is not sent again.

use support::{
    patience::until,
    proxy::Proxy,
    redis::{RedisServer, calls},
};

use crate::hazards::{
    fixture::{MODES, Node, Seen, charged, charged_to_all, is_exact},
    left::{every_key_ends, nothing_is_left_behind},
    together::{IN_FLIGHT, together},
};

/// How much of the reply arrives.
const BYTES: [usize; 3] = [0, 1, 9];

#[tokio::test]
async fn a_connection_cut_in_the_middle_of_a_reply() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let proxy = Proxy::to(server.port());
        let node = Node::new(mode, server.store().url(&proxy.url()).pool_size(1));
        let mut expected = 0;
        for (lost, bytes) in (1..).zip(BYTES) {
            assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
            proxy.cut_after(bytes);
            assert!(mode.allows(node.ask("alice").await));
            expected += 11;
            assert_eq!(charged(redis, "alice"), expected);
            assert_eq!(proxy.made(), lost);
        }
        // One call in eleven is no reason not to ask any more.
        assert!(node.store.health().is_up());
        is_exact(&node, redis, "alice").await;
        nothing_is_left_behind([node], proxy, &server, 1).await;
    }
}

/// All of those who share a reply lose it together.
#[tokio::test]
async fn a_connection_cut_in_the_middle_of_a_reply_to_many() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let proxy = Proxy::to(server.port());
        let node = Node::new(mode, server.store().url(&proxy.url()).pool_size(1));
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        // A reply to one has seven numbers of nine bytes at most, and the two that are in flight arrive. So does a part of
        // the reply to the others.
        let seen = together(&node, redis, ["alice"; 50], |_| proxy.cut_after(200)).await;
        assert_eq!(seen.of(Seen::Admitted), IN_FLIGHT);
        assert_eq!(seen.without_redis(mode), 50 - IN_FLIGHT);
        assert_eq!(charged(redis, "alice"), 60);
        assert!(node.store.health().is_up());
        is_exact(&node, redis, "alice").await;
        nothing_is_left_behind([node], proxy, &server, 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_cut_under_load() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let proxy = Proxy::to(server.port());
        let node = Node::new(mode, server.store().url(&proxy.url()));
        let load = node.crowd(8);
        for round in 0..30 {
            let made = proxy.made();
            match round % 3 {
                0 => proxy.cut(),
                some => proxy.cut_after(some),
            }
            // Calls that are answered lie between, so that what is lost was sent: nobody is turned away.
            let answered = calls(redis, "evalsha");
            until("it is replaced", || {
                proxy.made() > made && calls(redis, "evalsha") > answered + 20
            });
        }
        let seen = load.stop().await;
        node.is_back().await;
        let lost = seen.without_redis(mode);
        let admitted = seen.of(Seen::Admitted);
        let charged = charged_to_all(redis);
        assert!((admitted..=admitted + lost).contains(&charged), "{seen:?} {charged}");
        every_key_ends(redis);
        is_exact(&node, redis, "alice").await;
        nothing_is_left_behind([node], proxy, &server, 1).await;
    }
}
