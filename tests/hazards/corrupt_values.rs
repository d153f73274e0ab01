//! Foreign values under the store's keys, while the keys are in use.

use tollgate::redis::Connection;

use support::{
    redis::{RedisServer, query},
    wait::until,
};

use crate::hazards::{
    fixture::{LIMIT, Mode, Node, Response, assert_exact, charged, key_of},
    leaks::assert_no_leaks,
};

/// Commands that store a foreign value under KEY, which does not exist.
const COMMANDS: [&str; 6] = [
    "SET KEY garbage",
    "RPUSH KEY 1 2 3",
    "HSET KEY field value",
    "SADD KEY member",
    "ZADD KEY 1 member",
    "XADD KEY * field value",
];

/// Replaces the value atomically, so that no call finds the key missing.
fn corrupt(redis: &mut Connection, command: &str, user: &str) {
    let key = key_of(user);
    for command in ["MULTI", "DEL KEY", command, "EXEC"] {
        query::<()>(redis, &command.replace("KEY", &key));
    }
}

/// Waits until the store has replaced a foreign value, which has no expiry, and the limit is exhausted.
fn until_exhausted(redis: &mut Connection, user: &str) {
    until("the limit is exhausted", || {
        query::<i64>(redis, &format!("PTTL {}", key_of(user))) >= 0 && charged(redis, user) == LIMIT
    });
}

/// Each corruption of an exhausted key resets it once, which admits [`LIMIT`] more. Other users in the same batch are not
/// affected, and no request fails.
#[tokio::test(flavor = "multi_thread")]
async fn foreign_values_and_types_under_load() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store());
    let (victim, neighbour) = (node.load("victim", 8), node.load("neighbour", 8));
    until_exhausted(redis, "victim");
    until_exhausted(redis, "neighbour");
    for command in COMMANDS {
        corrupt(redis, command, "victim");
        until_exhausted(redis, "victim");
        assert_eq!(charged(redis, "neighbour"), LIMIT);
    }
    let [victim, neighbour] = [victim.stop().await, neighbour.stop().await];
    for tally in [&victim, &neighbour] {
        assert_eq!(tally.without_redis(Mode::Closed), 0, "{tally:?}");
    }
    let resets = COMMANDS.len() as u64;
    assert_eq!(victim.of(Response::Admitted), (1 + resets) * LIMIT);
    assert_eq!(neighbour.of(Response::Admitted), LIMIT);
    assert_exact(&node, redis, "alice").await;
    assert_no_leaks([node], &server, 1).await;
}
