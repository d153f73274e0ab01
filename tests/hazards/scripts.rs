//! A flushed script cache, and a Redis blocked by another script.

use std::time::Duration;

use tokio::time;
use tollgate::redis::{Connection, Value, cmd};

use support::{
    redis::{RedisServer, calls, query},
    wait::{until, yield_until},
};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Response, assert_exact, charged},
    leaks::assert_no_leaks,
};

/// No request fails: a call that gets NOSCRIPT loads the script again.
#[tokio::test(flavor = "multi_thread")]
async fn script_flush_under_load() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store());
    for round in 0..20 {
        let user = format!("user{round}");
        let load = node.load(&user, 8);
        until("the limit is exhausted", || {
            (0..10).for_each(|_| query(redis, "SCRIPT FLUSH"));
            charged(redis, &user) == LIMIT
        });
        let tally = load.stop().await;
        assert_eq!(tally.without_redis(Mode::Closed), 0, "{tally:?}");
        assert_eq!(tally.of(Response::Admitted), LIMIT);
    }
    assert!(calls(redis, "script|load") > 1);
    assert_exact(&node, redis, "alice").await;
    assert_no_leaks([node], &server, 1).await;
}

/// Starts an endless script without waiting for the reply.
fn run_endless_script(redis: &mut Connection) {
    let endless = cmd("EVAL").arg("while true do end").arg(0).get_packed_command();
    redis.send_packed_command(&endless).unwrap();
}

/// At first Redis is unresponsive, then it answers BUSY, also to calls that have timed out. It executes none of them.
#[tokio::test]
async fn endless_script_until_script_kill() {
    for mode in MODES {
        let server = RedisServer::start_with(&["--lua-time-limit", "100"]);
        let (redis, endless) = (&mut server.client(), &mut server.client());
        let early = Node::new(mode, server.store());
        let late = Node::new(mode, server.store().deadline(Duration::from_secs(3600)));
        for node in [&early, &late] {
            assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        }
        run_endless_script(endless);
        // The paused clock advances to the deadline when the runtime is idle.
        time::pause();
        let mut admitted = 20;
        let circuit_open = yield_until(async || {
            match early.request("alice").await {
                // The script has not started yet.
                Response::Admitted => admitted += 1,
                response => assert!(mode.allows(response), "{mode:?}: {response:?}"),
            }
            !early.store.health().is_up()
        });
        circuit_open.await;
        time::resume();
        assert_eq!(early.request_times("alice", 50).await.without_redis(mode), 50);

        let busy = cmd("PING").query::<()>(redis).unwrap_err();
        assert_eq!(busy.code(), Some("BUSY"));
        // Requests now fail without waiting for the deadline.
        assert_eq!(late.request_times("alice", 3).await.without_redis(mode), 3);
        assert!(!late.store.health().is_up());
        let error = late.store.check().await.unwrap_err().to_string();
        assert!(error.contains("another script is blocking Redis"), "{error}");

        query::<()>(redis, "SCRIPT KILL");
        assert!(matches!(endless.recv_response(), Ok(Value::ServerError(_))));
        for node in [&early, &late] {
            node.until_recovered().await;
        }
        assert_eq!(charged(redis, "alice"), admitted);
        assert_exact(&late, redis, "alice").await;
        assert_eq!(early.request("alice").await, Response::Denied);
        assert_no_leaks([early, late], &server, 2).await;
    }
}
