//! Redis is killed and restarts without data.

use support::{
    redis::{RedisServer, query},
    wait::eventually,
};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Response, Tally, assert_exact, charged},
    leaks::assert_no_leaks,
};

/// Each lifetime of Redis admits at most [`LIMIT`]. Without Redis, failing open admits every request, failing closed none, and
/// a fallback [`LIMIT`] per node.
#[tokio::test]
async fn sigkill_and_restart() {
    for mode in MODES {
        let mut server = RedisServer::start();
        let node = Node::new(mode, server.store());
        let first = node.request_times("alice", 30).await;
        assert_eq!(first.of(Response::Admitted), 30);
        assert_eq!(charged(&mut server.client(), "alice"), 30);

        server.kill();
        let without = node.request_times("alice", 2 * LIMIT).await;
        assert_eq!(without.without_redis(mode), 2 * LIMIT);
        if mode == Mode::Fallback {
            assert_eq!(without.of(Response::FallbackAdmitted), LIMIT);
        }
        assert!(!node.store.health().is_up());

        server.restart();
        node.until_recovered().await;
        let redis = &mut server.client();
        assert_eq!(charged(redis, "alice"), 0);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

/// A call in flight may or may not have been charged; the charge is lost with Redis either way.
#[tokio::test(flavor = "multi_thread")]
async fn sigkill_under_load() {
    for mode in MODES {
        let mut server = RedisServer::start();
        let nodes = [(); 2].map(|()| Node::new(mode, server.store()));
        let loads = nodes.each_ref().map(|node| node.load("alice", 8));
        until_exhausted(&server).await;
        server.kill();
        eventually("the circuit breakers are open", async || {
            nodes.iter().all(|node| !node.store.health().is_up())
        })
        .await;
        server.restart();
        for node in &nodes {
            node.until_recovered().await;
        }
        until_exhausted(&server).await;
        let mut tally = Tally::default();
        for load in loads {
            tally.add(&load.stop().await);
        }
        tally.assert_mode(mode);
        // The limit was exhausted in both lifetimes; replies of the first may be lost.
        let admitted = tally.of(Response::Admitted);
        assert!((LIMIT..=2 * LIMIT).contains(&admitted), "{tally:?}");
        assert!(tally.of(Response::FallbackAdmitted) <= 2 * LIMIT, "{tally:?}");
        assert_exact(&nodes[0], &mut server.client(), "bob").await;
        assert_no_leaks(nodes, &server, 0).await;
    }
}

async fn until_exhausted(server: &RedisServer) {
    let redis = &mut server.client();
    eventually("the limit is exhausted", async || charged(redis, "alice") == LIMIT).await;
}

/// The store loads the script again after NOSCRIPT, and the call is charged once.
#[tokio::test]
async fn restart_with_an_empty_script_cache() {
    let mut server = RedisServer::start();
    let node = Node::new(Mode::Closed, server.store());
    assert_eq!(node.request("alice").await, Response::Admitted);
    server.restart();
    let redis = &mut server.client();
    let script: String = query(redis, "SCRIPT LOAD return(1)");
    assert_eq!(query::<Vec<u8>>(redis, &format!("SCRIPT EXISTS {script}")), [1]);
    // The connections are closed; how many calls fail depends on how many connections are noticed as lost before.
    eventually("a request is admitted", async || {
        node.request("alice").await == Response::Admitted
    })
    .await;
    assert_eq!(charged(redis, "alice"), 1);
    assert_exact(&node, redis, "alice").await;
    assert_no_leaks([node], &server, 1).await;
}
