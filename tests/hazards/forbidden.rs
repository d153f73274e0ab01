//! A Redis whose user may not do what the store needs. It answers, and may answer others: it is asked again every time.

use std::time::Duration;

use tokio::time;
use tollgate::redis::Connection;

use support::{
    patience::stand_still,
    redis::{RedisServer, ask},
};

use crate::hazards::{
    fixture::{MODES, Node, Seen, charged, is_exact},
    left::nothing_is_left,
    log,
    together::together,
};

/// What is said, however many requests fail.
const LOUD: &str = "ERROR: a call to Redis failed";

/// How long nothing more is said.
const QUIET: Duration = Duration::from_secs(10);

fn forbid(redis: &mut Connection) {
    ask::<()>(redis, "ACL SETUSER limiter -evalsha");
}

fn allow(redis: &mut Connection) {
    ask::<()>(redis, "ACL SETUSER limiter on >secret ~* +@all");
}

#[tokio::test]
async fn an_acl_without_evalsha() {
    log::listen();
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        allow(redis);
        let store = server.store().pool_size(1).username("limiter").password("secret");
        let node = Node::new(mode, store);
        node.store.check().await.unwrap();
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        forbid(redis);
        // It is said again when some time has gone by, which it does here only when it is told to.
        let still = stand_still();
        assert_eq!(node.ask_times("alice", 200).await.without_redis(mode), 200);
        assert_eq!(log::of(&server), [LOUD]);
        time::advance(QUIET).await;
        assert_eq!(node.ask_times("alice", 200).await.without_redis(mode), 200);
        assert_eq!(log::of(&server), [LOUD]);
        still.end().await;
        time::resume();
        let said = node.store.check().await.unwrap_err().to_string();
        assert!(said.contains("allow the user the commands"), "{said}");
        assert!(node.store.health().is_up());

        allow(redis);
        assert_eq!(node.ask("alice").await, Seen::Admitted);
        assert_eq!(charged(redis, "alice"), 11);
        // Those who travel together are turned away together, and then one by one.
        let seen = together(&node, redis, ["alice"; 20], forbid).await;
        assert_eq!(seen.without_redis(mode), 20);
        assert!(node.store.health().is_up());
        allow(redis);
        assert_eq!(charged(redis, "alice"), 11);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}
