//! Failed authentication. `check()` reports it at startup; at run time it is logged as an error, but not once per request. A
//! request that was not authenticated is not charged.

use tollgate::{
    RedisStoreBuilder,
    redis::{Client, Connection, cmd},
};

use support::{
    log,
    redis::{RedisServer, info, query},
    wait::eventually,
};

use crate::hazards::{
    fixture::{MODES, Mode, Node, Response, assert_exact, charged, log_lines},
    leaks::assert_no_leaks,
};

/// The log lines of an outage by failed authentication, regardless of the number of requests.
const ERROR_LINES: [&str; 2] = ["ERROR: call to Redis failed", "ERROR: circuit breaker open"];
/// The log lines if a connection was lost first.
const LOST_THEN_ERROR_LINES: [&str; 3] = ["WARN: call to Redis failed", ERROR_LINES[0], ERROR_LINES[1]];
const RECOVERED_LINES: [&str; 1] = ["INFO: circuit breaker closed"];
/// The log lines of an outage without Redis.
const KILLED_LINES: [&str; 2] = ["WARN: call to Redis failed", "WARN: circuit breaker open"];
/// The log line about a Redis that is back, and fails in another way.
const CHANGED_LINE: &str = "ERROR: circuit breaker still open";

/// Sets the password of the user `limiter`.
fn set_password(redis: &mut Connection, password: &str) {
    query::<()>(redis, &format!("ACL SETUSER limiter on resetpass >{password} ~* +@all"));
}

/// Sets the password of the default user. Authenticated connections stay open.
fn require_password(redis: &mut Connection, password: &str) {
    let set = cmd("CONFIG").arg("SET").arg("requirepass").arg(password).query(redis);
    let () = set.unwrap();
}

fn limiter(server: &RedisServer) -> RedisStoreBuilder {
    server
        .store()
        .pool_size(1)
        .max_calls_in_flight(2)
        .username("limiter")
        .password("secret")
}

async fn check(node: &Node) -> String {
    node.store.check().await.unwrap_err().to_string()
}

/// Closes every connection but this one. Redis closes those of a deleted user itself.
fn kill_connections(redis: &mut Connection) {
    query::<u64>(redis, "CLIENT KILL TYPE normal");
}

/// Sends many requests, none of which Redis decides.
async fn assert_all_fail(node: &Node, mode: Mode) {
    assert_eq!(node.request_times("alice", 200).await.without_redis(mode), 200);
    assert!(!node.store.health().is_up());
}

#[tokio::test]
async fn wrong_password_at_startup() {
    log::listen();
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        set_password(redis, "other");
        let node = Node::new(mode, limiter(&server));
        let error = check(&node).await;
        assert!(error.contains("check the user name and the password"), "{error}");
        assert!(!error.contains("secret"), "{error}");
        assert_all_fail(&node, mode).await;
        assert_eq!(log_lines(&server), ERROR_LINES);
        set_password(redis, "secret");
        node.until_recovered().await;
        assert_eq!(log_lines(&server), RECOVERED_LINES);
        assert_eq!(charged(redis, "alice"), 0);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

/// Authentication works, then fails, then works again.
async fn revoked_and_restored(
    prepare: fn(&mut Connection),
    store: fn(&RedisServer) -> RedisStoreBuilder,
    revoke: fn(&mut Connection),
    restore: fn(&mut Connection),
) {
    log::listen();
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        prepare(redis);
        let node = Node::new(mode, store(&server));
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        revoke(redis);
        // Authenticated connections stay open, so only new ones fail.
        kill_connections(redis);
        assert_all_fail(&node, mode).await;
        assert_eq!(log_lines(&server), LOST_THEN_ERROR_LINES);
        restore(redis);
        node.until_recovered().await;
        assert_eq!(log_lines(&server), RECOVERED_LINES);
        assert_eq!(charged(redis, "alice"), 10);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

#[tokio::test]
async fn password_changed() {
    let secret = |redis: &mut Connection| set_password(redis, "secret");
    revoked_and_restored(secret, limiter, |redis| set_password(redis, "other"), secret).await;
}

#[tokio::test]
async fn user_deleted() {
    let secret = |redis: &mut Connection| set_password(redis, "secret");
    revoked_and_restored(secret, limiter, |redis| query(redis, "ACL DELUSER limiter"), secret).await;
}

#[tokio::test]
async fn password_required_at_runtime() {
    let without_password = |server: &RedisServer| server.store().pool_size(1).max_calls_in_flight(2);
    revoked_and_restored(
        |_| {},
        without_password,
        |redis| require_password(redis, "secret"),
        |redis| require_password(redis, ""),
    )
    .await;
}

/// Redis accepts the connection and answers the first call with NOAUTH. The store retries once on a new connection.
#[tokio::test]
async fn password_missing_at_startup() {
    log::listen();
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        require_password(redis, "secret");
        let node = Node::new(mode, server.store().pool_size(1).max_calls_in_flight(2));
        let error = check(&node).await;
        assert!(error.contains("give it a password"), "{error}");
        let before = info(redis, "stats", "total_connections_received:");
        assert!(mode.allows(node.request("alice").await));
        assert_eq!(info(redis, "stats", "total_connections_received:"), before + 2);
        assert_all_fail(&node, mode).await;
        assert_eq!(log_lines(&server), ERROR_LINES);
        require_password(redis, "");
        node.until_recovered().await;
        assert_eq!(log_lines(&server), RECOVERED_LINES);
        assert_eq!(charged(redis, "alice"), 0);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

/// Redis is killed, and comes back with a password. The health and the log report the cause that an operator can resolve.
#[tokio::test]
async fn password_required_after_a_restart() {
    log::listen();
    for mode in MODES {
        let mut server = RedisServer::start();
        let node = Node::new(mode, server.store().pool_size(1).max_calls_in_flight(2));
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        server.kill();
        assert_all_fail(&node, mode).await;
        assert_eq!(log_lines(&server), KILLED_LINES);

        server.restart_with(&["--requirepass", "secret"]);
        eventually("the cause is updated", async || {
            node.store.health().to_string().contains("NOAUTH")
        })
        .await;
        assert_eq!(log_lines(&server), [CHANGED_LINE]);
        assert_all_fail(&node, mode).await;

        let authenticated = format!("redis://:secret@127.0.0.1:{}", server.port());
        let redis = &mut Client::open(authenticated).unwrap().get_connection().unwrap();
        // Further probes that fail alike are not logged.
        assert!(log_lines(&server).is_empty());
        require_password(redis, "");
        node.until_recovered().await;
        assert_eq!(log_lines(&server), RECOVERED_LINES);
        assert_eq!(charged(redis, "alice"), 0);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}
