//! Redis stops responding, then continues.

use std::time::Duration;

use tokio::time;

use support::redis::{DEADLINE, RedisServer};

use crate::hazards::{
    fixture::{CONNECT_TIMEOUT, MODES, Node, Response, assert_exact, charged},
    leaks::assert_no_leaks,
};

/// Redis executes the calls it received when it continues: a request without a reply may have been charged once. Redis admits
/// at most [`LIMIT`](crate::hazards::fixture::LIMIT).
#[tokio::test]
async fn sigstop_and_sigcont() {
    for mode in MODES {
        let server = RedisServer::start();
        let node = Node::new(mode, server.store());
        let mut redis = server.client();
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        server.freeze();
        // The paused clock advances to the deadline when the runtime is idle.
        time::pause();
        // Two requests use the two connections, and the third waits for a new one.
        node.requests_time_out(mode, "alice", [DEADLINE, DEADLINE, CONNECT_TIMEOUT])
            .await;
        // The circuit breaker is open: requests fail fast.
        let begun = time::Instant::now();
        let tally = node.request_times("alice", 50).await;
        assert_eq!(tally.without_redis(mode), 50);
        assert_eq!(begun.elapsed(), Duration::ZERO);
        time::resume();
        server.thaw();
        node.until_recovered().await;
        let charged = charged(&mut redis, "alice");
        assert!((10..=13).contains(&charged), "{charged}");
        assert_exact(&node, &mut redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}
