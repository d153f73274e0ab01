//! More requests than connections, and no connection to be had.

use tokio::{
    task::{JoinSet, yield_now},
    time,
};

use support::{
    patience::took,
    redis::{DEADLINE, RedisServer, ask},
};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Seen, Tally, charged, is_exact},
    left::nothing_is_left,
};

/// As many as one connection is asked for at once.
const CROWD: u64 = 300;

/// A crowd's requests, all begun before this returns. On one thread, whoever was spawned gets his turn before this goes on.
async fn begin(node: &Node) -> JoinSet<Seen> {
    let mut crowd = JoinSet::new();
    for _ in 0..CROWD {
        let node = node.clone();
        crowd.spawn(async move { node.ask("alice").await });
    }
    for _ in 0..2 {
        yield_now().await;
    }
    crowd
}

async fn end(crowd: JoinSet<Seen>) -> Tally {
    let mut seen = Tally::default();
    crowd.join_all().await.into_iter().for_each(|one| seen.count(one));
    seen
}

/// Redis comes to it in time: everybody is decided about, once.
#[tokio::test]
async fn one_connection_for_a_crowd_that_has_to_wait() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store().pool_size(1));
    assert_eq!(node.ask("bob").await, Seen::Admitted);
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let crowd = begin(&node).await;
    ask::<()>(redis, "CLIENT UNPAUSE");
    let seen = end(crowd).await;
    assert_eq!(
        (seen.of(Seen::Admitted), seen.of(Seen::Refused)),
        (LIMIT, CROWD - LIMIT)
    );
    assert_eq!(charged(redis, "alice"), LIMIT);
    is_exact(&node, redis, "bob").await;
    nothing_is_left([node], &server, 1).await;
}

/// Redis does not come to it: everybody is told so at his deadline. What had been sent may be charged, but once.
#[tokio::test]
async fn one_connection_for_a_crowd_that_waits_in_vain() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1));
        assert_eq!(node.ask("bob").await, Seen::Admitted);
        ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        // With nothing left to do but wait, the runtime's clock leaps to the deadline.
        time::pause();
        let begun = time::Instant::now();
        let seen = end(begin(&node).await).await;
        took(begun, DEADLINE);
        time::resume();
        assert_eq!(seen.without_redis(mode), CROWD);
        ask::<()>(redis, "CLIENT UNPAUSE");
        node.is_back().await;
        // One led, and the lane's task took as many along as make a batch.
        let charged = charged(redis, "alice");
        assert!(charged <= LIMIT.min(1 + 128), "{charged}");
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}

/// Those who are in may stay, and nobody may come: a connection that is lost cannot be replaced.
#[tokio::test]
async fn maxclients_reached() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
        ask::<()>(redis, "CONFIG SET maxclients 1");
        assert!(ask::<u64>(redis, "CLIENT KILL TYPE normal") > 0);
        assert_eq!(node.ask_times("alice", 200).await.without_redis(mode), 200);
        assert!(!node.store.health().is_up());
        ask::<()>(redis, "CONFIG SET maxclients 10000");
        node.is_back().await;
        assert_eq!(charged(redis, "alice"), 10);
        is_exact(&node, redis, "alice").await;
        nothing_is_left([node], &server, 1).await;
    }
}
