//! A Redis that is killed, and one that starts again with nothing.

use support::{
    patience::eventually,
    redis::{RedisServer, ask},
};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Seen, Tally, charged, is_exact},
    left::nothing_is_left,
};

/// Each lifetime of Redis admits [`LIMIT`] at most. Without Redis: as many as come in an open service, none in a closed
/// one, [`LIMIT`] on each node of one that falls back.
#[tokio::test]
async fn sigkill_and_restart() {
    for mode in MODES {
        let mut server = RedisServer::start();
        let node = Node::new(mode, server.store());
        let first = node.ask_times("alice", 30).await;
        assert_eq!(first.of(Seen::Admitted), 30);
        assert_eq!(charged(&mut server.client(), "alice"), 30);

        server.kill();
        let without = node.ask_times("alice", 2 * LIMIT).await;
        assert_eq!(without.without_redis(mode), 2 * LIMIT);
        if mode == Mode::Fallback {
            assert_eq!(without.of(Seen::AdmittedHere), LIMIT);
        }
        assert!(!node.store.health().is_up());

        server.restart();
        node.is_back().await;
        let redis = &mut server.client();
        assert_eq!(charged(redis, "alice"), 0);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}

/// What is in flight when Redis dies may or may not have been charged; in either case it dies with it.
#[tokio::test(flavor = "multi_thread")]
async fn sigkill_under_load() {
    for mode in MODES {
        let mut server = RedisServer::start();
        let nodes = [(); 2].map(|()| Node::new(mode, server.store()));
        let loads = nodes.each_ref().map(|node| node.load("alice", 8));
        all_is_taken(&server).await;
        server.kill();
        eventually("it is found out", async || {
            nodes.iter().all(|node| !node.store.health().is_up())
        })
        .await;
        server.restart();
        for node in &nodes {
            node.is_back().await;
        }
        all_is_taken(&server).await;
        let mut seen = Tally::default();
        for load in loads {
            seen.add(&load.stop().await);
        }
        seen.is_as_chosen(mode);
        // Two lifetimes, in each of which all was taken; of the first, answers may have been lost.
        let admitted = seen.of(Seen::Admitted);
        assert!((LIMIT..=2 * LIMIT).contains(&admitted), "{seen:?}");
        assert!(seen.of(Seen::AdmittedHere) <= 2 * LIMIT, "{seen:?}");
        is_exact(&nodes[0], &mut server.client(), "bob").await;
        nothing_is_left(nodes, &server, 0).await;
    }
}

async fn all_is_taken(server: &RedisServer) {
    let redis = &mut server.client();
    eventually("all is taken", async || charged(redis, "alice") == LIMIT).await;
}

/// A program that Redis has forgotten is loaded again, and the call that met it is charged once.
#[tokio::test]
async fn restart_with_an_empty_script_cache() {
    let mut server = RedisServer::start();
    let node = Node::new(Mode::Closed, server.store());
    assert_eq!(node.ask("alice").await, Seen::Admitted);
    server.restart();
    let redis = &mut server.client();
    let script: String = ask(redis, "SCRIPT LOAD return(1)");
    assert_eq!(ask::<Vec<u8>>(redis, &format!("SCRIPT EXISTS {script}")), [1]);
    // Its connections are gone; how many calls that costs depends on how many lanes are found lost before they fail.
    eventually("it is admitted", async || node.ask("alice").await == Seen::Admitted).await;
    assert_eq!(charged(redis, "alice"), 1);
    is_exact(&node, redis, "alice").await;
    nothing_is_left([node], &server, 1).await;
}
