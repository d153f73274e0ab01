//! Somebody else's values under our keys, while these are in use.

use tollgate::redis::Connection;

use support::{
    patience::until,
    redis::{RedisServer, ask},
};

use crate::hazards::{
    fixture::{LIMIT, Mode, Node, Seen, charged, is_exact, key_of},
    left::nothing_is_left,
};

/// What puts something else under KEY, which is not there.
const PLANTED: [&str; 6] = [
    "SET KEY garbage",
    "RPUSH KEY 1 2 3",
    "HSET KEY field value",
    "SADD KEY member",
    "ZADD KEY 1 member",
    "XADD KEY * field value",
];

/// In one step, so that nobody finds the key missing.
fn plant(redis: &mut Connection, garbage: &str, user: &str) {
    let key = key_of(user);
    for command in ["MULTI", "DEL KEY", garbage, "EXEC"] {
        ask::<()>(redis, &command.replace("KEY", &key));
    }
}

/// What is planted lives for ever; what the store has written does not.
fn all_is_taken(redis: &mut Connection, user: &str) {
    until("all is taken", || {
        ask::<i64>(redis, &format!("PTTL {}", key_of(user))) >= 0 && charged(redis, user) == LIMIT
    });
}

/// A key that was spent counts as fresh, once each time: [`LIMIT`] more. Nobody else gets anything of it, though he
/// travels in the same call, and nobody is failed.
#[tokio::test(flavor = "multi_thread")]
async fn garbage_and_other_types_under_load() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store());
    let (victim, neighbour) = (node.load("victim", 8), node.load("neighbour", 8));
    all_is_taken(redis, "victim");
    all_is_taken(redis, "neighbour");
    for garbage in PLANTED {
        plant(redis, garbage, "victim");
        all_is_taken(redis, "victim");
        assert_eq!(charged(redis, "neighbour"), LIMIT);
    }
    let [victim, neighbour] = [victim.stop().await, neighbour.stop().await];
    for seen in [&victim, &neighbour] {
        assert_eq!(seen.without_redis(Mode::Closed), 0, "{seen:?}");
    }
    let fresh = 1 + PLANTED.len() as u64;
    assert_eq!(victim.of(Seen::Admitted), fresh * LIMIT);
    assert_eq!(neighbour.of(Seen::Admitted), LIMIT);
    is_exact(&node, redis, "alice").await;
    nothing_is_left([node], &server, 1).await;
}
