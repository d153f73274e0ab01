//! A Redis that is stopped in the middle of its work, and goes on.

use std::time::Duration;

use tokio::time;

use support::redis::{DEADLINE, RedisServer};

use crate::hazards::{
    fixture::{CONNECTING, MODES, Node, Seen, charged, is_exact},
    left::nothing_is_left,
};

/// It answers nobody, and does later what it was sent: whoever got no answer may have been charged, but once. So no more
/// than [`LIMIT`](crate::hazards::fixture::LIMIT) are admitted by Redis, in its one lifetime.
#[tokio::test]
async fn sigstop_and_sigcont() {
    for mode in MODES {
        let server = RedisServer::start();
        let node = Node::new(mode, server.store());
        let mut redis = server.client();
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        server.freeze();
        // With nothing left to do but wait, the runtime's clock leaps to the deadline.
        time::pause();
        // There are two connections, and then none.
        node.ask_in_vain(mode, "alice", [DEADLINE, DEADLINE, CONNECTING]).await;
        // From now on it is known, and nobody waits.
        let begun = time::Instant::now();
        let known = node.ask_times("alice", 50).await;
        assert_eq!(known.without_redis(mode), 50);
        assert_eq!(begun.elapsed(), Duration::ZERO);
        time::resume();
        server.thaw();
        node.is_back().await;
        let charged = charged(&mut redis, "alice");
        assert!((10..=13).contains(&charged), "{charged}");
        is_exact(&node, &mut redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}
