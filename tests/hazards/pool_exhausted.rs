//! More requests than connections, and no new connections (`maxclients`).

use tokio::{
    task::{JoinSet, yield_now},
    time,
};

use support::{
    redis::{DEADLINE, RedisServer, query},
    wait::assert_elapsed,
};

use crate::hazards::{
    fixture::{LIMIT, MODES, Mode, Node, Response, Tally, assert_exact, charged},
    leaks::assert_no_leaks,
};

/// Concurrent requests on one connection.
const REQUESTS: u64 = 300;

/// Starts the requests, which a current-thread runtime has polled once when this returns.
async fn start(node: &Node) -> JoinSet<Response> {
    let mut requests = JoinSet::new();
    for _ in 0..REQUESTS {
        let node = node.clone();
        requests.spawn(async move { node.request("alice").await });
    }
    for _ in 0..2 {
        yield_now().await;
    }
    requests
}

async fn finish(requests: JoinSet<Response>) -> Tally {
    let mut tally = Tally::default();
    let responses = requests.join_all().await;
    responses.into_iter().for_each(|response| tally.count(response));
    tally
}

/// Redis replies within the deadline: every request is decided once.
#[tokio::test]
async fn many_requests_queue_for_one_connection() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store().pool_size(1).max_calls_in_flight(2));
    assert_eq!(node.request("bob").await, Response::Admitted);
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let requests = start(&node).await;
    query::<()>(redis, "CLIENT UNPAUSE");
    let tally = finish(requests).await;
    assert_eq!(
        (tally.of(Response::Admitted), tally.of(Response::Denied)),
        (LIMIT, REQUESTS - LIMIT)
    );
    assert_eq!(charged(redis, "alice"), LIMIT);
    assert_exact(&node, redis, "bob").await;
    assert_no_leaks([node], &server, 1).await;
}

/// Redis does not reply: every request fails at its deadline. Requests that were sent may be charged, at most once.
#[tokio::test]
async fn many_requests_time_out_on_one_connection() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1).max_calls_in_flight(2));
        assert_eq!(node.request("bob").await, Response::Admitted);
        query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        // The paused clock advances to the deadline when the runtime is idle.
        time::pause();
        let begun = time::Instant::now();
        let tally = finish(start(&node).await).await;
        assert_elapsed(begun, DEADLINE);
        time::resume();
        assert_eq!(tally.without_redis(mode), REQUESTS);
        query::<()>(redis, "CLIENT UNPAUSE");
        node.until_recovered().await;
        // One request was sent inline, and one batch by the sender task.
        let charged = charged(redis, "alice");
        assert!(charged <= LIMIT.min(1 + 128), "{charged}");
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

/// Open connections stay, but a lost connection cannot be replaced.
#[tokio::test]
async fn maxclients_reached() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        query::<()>(redis, "CONFIG SET maxclients 1");
        assert!(query::<u64>(redis, "CLIENT KILL TYPE normal") > 0);
        assert_eq!(node.request_times("alice", 200).await.without_redis(mode), 200);
        assert!(!node.store.health().is_up());
        query::<()>(redis, "CONFIG SET maxclients 10000");
        node.until_recovered().await;
        assert_eq!(charged(redis, "alice"), 10);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}
