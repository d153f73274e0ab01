//! A Redis that forgets its scripts, and one that another script keeps from answering.

use std::time::Duration;

use tokio::time;
use tollgate::redis::{Connection, Value, cmd};

use support::{
    patience::{until, yielding},
    redis::{RedisServer, ask, calls},
};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Seen, charged, is_exact},
    left::nothing_is_left,
};

/// Nobody sees anything of it: whoever finds the program gone brings it along again, as often as it takes.
#[tokio::test(flavor = "multi_thread")]
async fn script_flush_under_load() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store());
    for round in 0..20 {
        let user = format!("user{round}");
        let load = node.load(&user, 8);
        until("all is taken", || {
            (0..10).for_each(|_| ask(redis, "SCRIPT FLUSH"));
            charged(redis, &user) == LIMIT
        });
        let seen = load.stop().await;
        assert_eq!(seen.without_redis(Mode::Closed), 0, "{seen:?}");
        assert_eq!(seen.of(Seen::Admitted), LIMIT);
    }
    assert!(calls(redis, "script|load") > 1);
    is_exact(&node, redis, "alice").await;
    nothing_is_left([node], &server, 1).await;
}

/// Has Redis run a script that does not end by itself, and does not wait for it.
fn run_on(redis: &mut Connection) {
    let endless = cmd("EVAL").arg("while true do end").arg(0).get_packed_command();
    redis.send_packed_command(&endless).unwrap();
}

/// At first Redis is silent, and then it says that it is busy. In either case it does nothing of what it is asked: it
/// answers so to those, too, who have given up on it.
#[tokio::test]
async fn a_script_that_does_not_end_until_script_kill() {
    for mode in MODES {
        let server = RedisServer::start_with(&["--lua-time-limit", "100"]);
        let (redis, endless) = (&mut server.client(), &mut server.client());
        let early = Node::new(mode, server.store());
        let late = Node::new(mode, server.store().deadline(Duration::from_secs(3600)));
        for node in [&early, &late] {
            assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        }
        run_on(endless);
        // With nothing left to do but wait, the runtime's clock leaps to the deadline.
        time::pause();
        let mut admitted = 20;
        let found_out = yielding(async || {
            match early.ask("alice").await {
                // It has not begun yet.
                Seen::Admitted => admitted += 1,
                seen => assert!(mode.allows(seen), "{mode:?}: {seen:?}"),
            }
            !early.store.health().is_up()
        });
        found_out.await;
        time::resume();
        assert_eq!(early.ask_times("alice", 50).await.without_redis(mode), 50);

        let busy = cmd("PING").query::<()>(redis).unwrap_err();
        assert_eq!(busy.code(), Some("BUSY"));
        // Nobody waits for the deadline now.
        assert_eq!(late.ask_times("alice", 3).await.without_redis(mode), 3);
        assert!(!late.store.health().is_up());
        let said = late.store.check().await.unwrap_err().to_string();
        assert!(
            said.contains("another script is keeping Redis from answering"),
            "{said}"
        );

        ask::<()>(redis, "SCRIPT KILL");
        assert!(matches!(endless.recv_response(), Ok(Value::ServerError(_))));
        for node in [&early, &late] {
            node.is_back().await;
        }
        assert_eq!(charged(redis, "alice"), admitted);
        is_exact(&late, redis, "alice").await;
        assert_eq!(early.ask("alice").await, Seen::Refused);
        nothing_is_left([early, late], &server, 2).await;
    }
}
