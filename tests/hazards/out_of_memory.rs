//! Redis out of memory with `noeviction`.
//!
//! It still denies requests of exhausted keys, which needs no write. A request that would be charged fails alone, and the
//! circuit breaker stays closed.

use std::time::Duration;

use tokio::time;
use tollgate::redis::Connection;

use support::{
    log,
    redis::{RedisServer, query},
    wait::{stop_clock, until},
};

use crate::hazards::{
    batch::in_one_batch,
    fixture::{LIMIT, MODES, Mode, Node, Response, Tally, assert_exact, charged, charged_to_all},
    leaks::{assert_keys_expire, assert_no_leaks},
};

/// The minimal interval between log lines about one cause, and the time without failures after which their end is logged.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

fn start() -> RedisServer {
    RedisServer::start_with(&["--maxmemory-policy", "noeviction"])
}

fn fill(redis: &mut Connection) {
    query::<()>(redis, "CONFIG SET maxmemory 1");
}

fn free_memory(redis: &mut Connection) {
    query::<()>(redis, "CONFIG SET maxmemory 0");
}

#[tokio::test]
async fn out_of_memory_and_back() {
    for mode in MODES {
        let server = start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        assert_eq!(
            node.request_times("exhausted", LIMIT).await.of(Response::Admitted),
            LIMIT
        );
        assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
        fill(redis);
        assert_eq!(node.request_times("alice", 50).await.without_redis(mode), 50);
        assert_eq!(node.request_times("new", 50).await.without_redis(mode), 50);
        assert_eq!(node.request_times("exhausted", 50).await.of(Response::Denied), 50);
        assert!(node.store.health().is_up());
        assert_eq!((charged(redis, "alice"), charged(redis, "new")), (10, 0));
        free_memory(redis);
        assert_eq!(node.request("alice").await, Response::Admitted);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

/// Each request of a batch gets the response that it would get alone.
#[tokio::test]
async fn out_of_memory_during_a_batch() {
    for mode in MODES {
        let server = start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1).max_calls_in_flight(2));
        assert_eq!(
            node.request_times("exhausted", LIMIT).await.of(Response::Admitted),
            LIMIT
        );
        let tally = in_one_batch(&node, redis, ["alice", "exhausted"].repeat(10), fill).await;
        assert_eq!(
            (tally.without_redis(mode), tally.of(Response::Denied)),
            (10, 10),
            "{tally:?}"
        );
        assert!(node.store.health().is_up());
        free_memory(redis);
        assert_eq!(charged(redis, "alice"), 0);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

/// The admitted requests are exactly the charged ones.
#[tokio::test(flavor = "multi_thread")]
async fn out_of_memory_under_load() {
    for mode in MODES {
        let server = start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        let load = node.load_by_many_users(8);
        let mut tally = Tally::default();
        for _ in 0..10 {
            fill(redis);
            tally.count(node.request("alice").await);
            free_memory(redis);
            assert_eq!(node.request("alice").await, Response::Admitted);
            assert!(node.store.health().is_up());
        }
        assert_eq!(tally.without_redis(mode), 10);
        assert_eq!(charged(redis, "alice"), 10);
        let tally = load.stop().await;
        tally.assert_mode(mode);
        assert_eq!(charged_to_all(redis), 10 + tally.of(Response::Admitted));
        assert_keys_expire(redis);
        assert_exact(&node, redis, "alice").await;
        assert_no_leaks([node], &server, 1).await;
    }
}

/// Each cause is logged once in an interval, and the end of all once no call has failed for as long.
#[tokio::test]
async fn refused_writes_and_their_end_in_the_log() {
    log::listen();
    // It cannot save its data in this folder.
    let server = RedisServer::start_with(&[
        "--dir",
        "/proc",
        "--save",
        "3600 1",
        "--stop-writes-on-bgsave-error",
        "no",
    ]);
    let redis = &mut server.client();
    query::<()>(redis, "BGSAVE");
    until("saving has failed", || {
        server.info_contains("persistence", "rdb_last_bgsave_status:err")
    });
    let node = Node::new(Mode::Open, server.store());
    let address = format!("127.0.0.1:{}", server.port());
    let lines = || log::take(|line| line.field("address") == address);
    let text = |line: &log::Line| format!("{} {} {}", line.level, line.field("message"), line.field("failed"));
    assert_eq!(node.request("alice").await, Response::Admitted);
    let clock = stop_clock();
    for (setting, refuse, allow, advice) in [
        ("maxmemory", "1", "0", "raise maxmemory"),
        ("min-replicas-to-write", "1", "0", "see min-replicas-to-write"),
        ("stop-writes-on-bgsave-error", "yes", "no", "whether its disk is full"),
    ] {
        query::<()>(redis, &format!("CONFIG SET {setting} {refuse}"));
        assert_eq!(node.request_times("alice", 50).await.without_redis(Mode::Open), 50);
        let logged = lines();
        assert_eq!(
            logged.iter().map(text).collect::<Vec<_>>(),
            ["WARN call to Redis failed "],
            "{setting}"
        );
        assert!(logged[0].field("why").ends_with(advice), "{}", logged[0].field("why"));
        query::<()>(redis, &format!("CONFIG SET {setting} {allow}"));
    }
    assert!(node.store.health().is_up());
    // Calls that write nothing succeed between failed ones, so the first success is not the end.
    assert_eq!(node.request("alice").await, Response::Admitted);
    assert!(lines().is_empty());
    time::advance(LOG_INTERVAL).await;
    assert_eq!(node.request_times("alice", 2).await.of(Response::Admitted), 2);
    assert_eq!(
        lines().iter().map(text).collect::<Vec<_>>(),
        ["INFO calls to Redis succeed again 150"]
    );
    clock.end().await;
    time::resume();
    assert_no_leaks([node], &server, 1).await;
}
