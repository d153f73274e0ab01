//! An ACL that denies the store's commands. Redis responds and may accept other calls, so the circuit breaker stays closed.

use std::time::Duration;

use tokio::time;
use tollgate::redis::Connection;

use support::{
    log,
    redis::{RedisServer, query},
    wait::stop_clock,
};

use crate::hazards::{
    batch::in_one_batch,
    fixture::{MODES, Node, Response, assert_exact, charged, log_lines},
    leaks::assert_no_leaks,
};

/// The only line per interval, regardless of the number of failed requests.
const ERROR_LINE: &str = "ERROR: call to Redis failed";

const LOG_INTERVAL: Duration = Duration::from_secs(10);

fn forbid(redis: &mut Connection) {
    query::<()>(redis, "ACL SETUSER limiter -evalsha");
}

fn allow(redis: &mut Connection) {
    query::<()>(redis, "ACL SETUSER limiter on >secret ~* +@all");
}

#[tokio::test]
async fn acl_without_evalsha() {
    log::listen();
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        allow(redis);
        let store = server
            .store()
            .pool_size(1)
            .max_calls_in_flight(2)
            .username("limiter")
            .password("secret");
        let node = Node::new(mode, store);
        node.store.check().await.unwrap();
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        forbid(redis);
        let clock = stop_clock();
        assert_eq!(node.request_times("alice", 200).await.without_redis(mode), 200);
        assert_eq!(log_lines(&server), [ERROR_LINE]);
        time::advance(LOG_INTERVAL).await;
        assert_eq!(node.request_times("alice", 200).await.without_redis(mode), 200);
        assert_eq!(log_lines(&server), [ERROR_LINE]);
        clock.end().await;
        time::resume();
        let error = node.store.check().await.unwrap_err().to_string();
        assert!(error.contains("allow the user the commands"), "{error}");
        assert!(node.store.health().is_up());

        allow(redis);
        assert_eq!(node.request("alice").await, Response::Admitted);
        assert_eq!(charged(redis, "alice"), 11);
        // Redis rejects the whole batch, then each request sent alone.
        let tally = in_one_batch(&node, redis, ["alice"; 20], forbid).await;
        assert_eq!(tally.without_redis(mode), 20);
        assert!(node.store.health().is_up());
        allow(redis);
        assert_eq!(charged(redis, "alice"), 11);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}
