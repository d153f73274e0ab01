//! A Redis that has no memory left and may not forget anything for it.
//!
//! It still refuses who has nothing left, since that needs nothing written. Whoever would have to be charged is not, and
//! that is said of him alone: Redis is asked again for the next one.

use tollgate::redis::Connection;

use support::redis::{RedisServer, ask};

use crate::hazards::{
    fixture::{LIMIT, MODES, Node, Seen, Tally, charged, charged_to_all, is_exact},
    left::{every_key_ends, nothing_is_left},
    together::together,
};

fn start() -> RedisServer {
    RedisServer::start_with(&["--maxmemory-policy", "noeviction"])
}

fn fill(redis: &mut Connection) {
    ask::<()>(redis, "CONFIG SET maxmemory 1");
}

fn make_room(redis: &mut Connection) {
    ask::<()>(redis, "CONFIG SET maxmemory 0");
}

#[tokio::test]
async fn out_of_memory_and_back() {
    for mode in MODES {
        let server = start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        assert_eq!(node.ask_times("spent", LIMIT).await.of(Seen::Admitted), LIMIT);
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        fill(redis);
        assert_eq!(node.ask_times("alice", 50).await.without_redis(mode), 50);
        assert_eq!(node.ask_times("nobody", 50).await.without_redis(mode), 50);
        assert_eq!(node.ask_times("spent", 50).await.of(Seen::Refused), 50);
        assert!(node.store.health().is_up());
        assert_eq!((charged(redis, "alice"), charged(redis, "nobody")), (10, 0));
        make_room(redis);
        assert_eq!(node.ask("alice").await, Seen::Admitted);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}

/// Those who travel together fare as each would alone.
#[tokio::test]
async fn out_of_memory_in_the_middle_of_a_batch() {
    for mode in MODES {
        let server = start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1));
        assert_eq!(node.ask_times("spent", LIMIT).await.of(Seen::Admitted), LIMIT);
        let seen = together(&node, redis, ["alice", "spent"].repeat(10), fill).await;
        assert_eq!((seen.without_redis(mode), seen.of(Seen::Refused)), (10, 10), "{seen:?}");
        assert!(node.store.health().is_up());
        make_room(redis);
        assert_eq!(charged(redis, "alice"), 0);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}

/// What clients were told that Redis had admitted is what it has charged, to the unit.
#[tokio::test(flavor = "multi_thread")]
async fn out_of_memory_under_load() {
    for mode in MODES {
        let server = start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        let load = node.crowd(8);
        let mut seen = Tally::default();
        for _ in 0..10 {
            fill(redis);
            seen.count(node.ask("alice").await);
            make_room(redis);
            assert_eq!(node.ask("alice").await, Seen::Admitted);
            assert!(node.store.health().is_up());
        }
        assert_eq!(seen.without_redis(mode), 10);
        assert_eq!(charged(redis, "alice"), 10);
        let seen = load.stop().await;
        seen.is_as_chosen(mode);
        assert_eq!(charged_to_all(redis), 10 + seen.of(Seen::Admitted));
        every_key_ends(redis);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}
