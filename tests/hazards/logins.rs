//! A Redis that lets nobody in: what will not heal by itself is said at start-up, and loudly at run time, but not once per
//! request. What was never let in has charged nobody.

use tollgate::{
    RedisStoreBuilder,
    redis::{Connection, cmd},
};

use support::redis::{RedisServer, ask, info};

use crate::hazards::{
    fixture::{MODES, Mode, Node, Seen, charged, is_exact},
    left::nothing_is_left,
    log,
};

/// What is said while nobody is let in, however many come.
const LOUD: [&str; 2] = [
    "ERROR: a call to Redis failed",
    "ERROR: Redis is not asked until somebody sees to it",
];
/// The same when a connection was lost before.
const LOST: [&str; 3] = ["WARN: a call to Redis failed", LOUD[0], LOUD[1]];
const BACK: [&str; 1] = ["INFO: Redis answers again"];

/// A user's password in Redis.
fn set_password(redis: &mut Connection, password: &str) {
    ask::<()>(redis, &format!("ACL SETUSER limiter on resetpass >{password} ~* +@all"));
}

/// The password of whoever says no name. Those who are in may stay.
fn require(redis: &mut Connection, password: &str) {
    let set = cmd("CONFIG").arg("SET").arg("requirepass").arg(password).query(redis);
    let () = set.unwrap();
}

fn limiter(server: &RedisServer) -> RedisStoreBuilder {
    server.store().pool_size(1).username("limiter").password("secret")
}

async fn check(node: &Node) -> String {
    node.store.check().await.unwrap_err().to_string()
}

/// Ends every connection but the test's own. Redis has done so already to a user whom it deleted.
fn throw_out(redis: &mut Connection) {
    ask::<u64>(redis, "CLIENT KILL TYPE normal");
}

/// Many requests, of which none is let in.
async fn nobody_is_let_in(node: &Node, mode: Mode) {
    assert_eq!(node.ask_times("alice", 200).await.without_redis(mode), 200);
    assert!(!node.store.health().is_up());
}

#[tokio::test]
async fn a_wrong_password_from_the_start() {
    log::listen();
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        set_password(redis, "other");
        let node = Node::new(mode, limiter(&server));
        let said = check(&node).await;
        assert!(said.contains("check the user name and the password"), "{said}");
        assert!(!said.contains("secret"), "{said}");
        nobody_is_let_in(&node, mode).await;
        assert_eq!(log::of(&server), LOUD);
        set_password(redis, "secret");
        node.is_back().await;
        assert_eq!(log::of(&server), BACK);
        assert_eq!(charged(redis, "alice"), 0);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}

/// Some are let in, and then nobody is, until somebody sees to it.
async fn shut_and_opened(
    prepare: fn(&mut Connection),
    login: fn(&RedisServer) -> RedisStoreBuilder,
    shut: fn(&mut Connection),
    open: fn(&mut Connection),
) {
    log::listen();
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        prepare(redis);
        let node = Node::new(mode, login(&server));
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        shut(redis);
        // Whoever is in may stay; it shows when a connection has to be replaced.
        throw_out(redis);
        nobody_is_let_in(&node, mode).await;
        assert_eq!(log::of(&server), LOST);
        open(redis);
        node.is_back().await;
        assert_eq!(log::of(&server), BACK);
        assert_eq!(charged(redis, "alice"), 10);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}

#[tokio::test]
async fn a_password_that_is_changed() {
    let secret = |redis: &mut Connection| set_password(redis, "secret");
    shut_and_opened(secret, limiter, |redis| set_password(redis, "other"), secret).await;
}

#[tokio::test]
async fn a_user_that_is_deleted() {
    let secret = |redis: &mut Connection| set_password(redis, "secret");
    shut_and_opened(secret, limiter, |redis| ask(redis, "ACL DELUSER limiter"), secret).await;
}

#[tokio::test]
async fn a_password_that_is_asked_for_suddenly() {
    let stranger = |server: &RedisServer| server.store().pool_size(1);
    shut_and_opened(
        |_| {},
        stranger,
        |redis| require(redis, "secret"),
        |redis| require(redis, ""),
    )
    .await;
}

/// Redis lets anybody connect, and says NOAUTH to the first call. A new connection may make a difference, so one is tried,
/// and one only.
#[tokio::test]
async fn a_password_that_is_missing_from_the_start() {
    log::listen();
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        require(redis, "secret");
        let node = Node::new(mode, server.store().pool_size(1));
        let said = check(&node).await;
        assert!(said.contains("give it a password"), "{said}");
        let before = info(redis, "stats", "total_connections_received:");
        assert!(mode.allows(node.ask("alice").await));
        assert_eq!(info(redis, "stats", "total_connections_received:"), before + 2);
        nobody_is_let_in(&node, mode).await;
        assert_eq!(log::of(&server), LOUD);
        require(redis, "");
        node.is_back().await;
        assert_eq!(log::of(&server), BACK);
        assert_eq!(charged(redis, "alice"), 0);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}
