//! The Redis store's connections: shared, never checked out per call, replaced when they are lost.
#![cfg(feature = "redis")]

mod support;

use std::{net::TcpListener, task::Poll, time::Duration};

use support::redis::{RedisServer, ask};
use tokio::{runtime, task::JoinSet, time};
use tollgate::{
    Charge, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisStore, RedisStoreBuilder, Store, StoreError,
    redis::Connection,
};

const LANES: usize = 3;
const LIMIT: u32 = 1000;
const PATIENT: Duration = Duration::from_secs(30);

/// A store on a clock that stands still, so that no window ends while a test runs.
fn builder(server: &RedisServer) -> RedisStoreBuilder {
    server.store().pool_size(LANES).clock(ManualClock::at(0))
}

fn acquire() -> Operation {
    let limit = Limit::new("name", FixedWindow::new(Quota::per_day(LIMIT)));
    Operation::Acquire(Charge::new(limit, Key::new("key")).into())
}

/// A call for every lane, until all are connected and Redis knows the program.
async fn warm_up(store: &RedisStore, redis: &mut Connection) {
    for _ in 0..LANES {
        assert!(store.apply(acquire()).await.unwrap().admits());
    }
    // The lanes, and the client that asks.
    while info(redis, "clients", "connected_clients:") < LANES as u64 + 1 {
        tokio::task::yield_now().await;
    }
}

/// What has been charged, by the word of Redis.
fn charged(redis: &mut Connection) -> u64 {
    let state: Option<String> = ask(redis, "GET rate_limit:fixed_window:name:86400000000:key");
    state.map_or(0, |state| state.strip_prefix("0 ").unwrap().parse().unwrap())
}

/// A number that INFO tells, or 0 when it does not.
fn info(redis: &mut Connection, section: &str, field: &str) -> u64 {
    let info: String = ask(redis, &format!("INFO {section}"));
    let line = info.lines().find_map(|line| line.strip_prefix(field));
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    line.map_or(0, |rest| digits(rest).parse().unwrap())
}

/// How often a command has been run.
fn calls(redis: &mut Connection, command: &str) -> u64 {
    info(redis, "commandstats", &format!("cmdstat_{command}:calls="))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_one_evalsha_and_nothing_else() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;

    ask::<()>(redis, "CONFIG RESETSTAT");
    for n in 1..=50 {
        store.apply(acquire()).await.unwrap();
        assert_eq!(calls(redis, "evalsha"), n);
    }
    let mut requests: JoinSet<_> = (0..200).map(|_| store.apply(acquire())).collect();
    while let Some(decision) = requests.join_next().await {
        assert!(decision.unwrap().unwrap().admits());
    }
    assert_eq!(calls(redis, "evalsha"), 250);
    assert_eq!(charged(redis), LANES as u64 + 250);
    for never in ["ping", "unwatch", "script|load", "eval", "select", "auth", "hello"] {
        assert_eq!(calls(redis, never), 0, "{never}");
    }
    // The lanes, and the client that asks.
    assert!(info(redis, "clients", "connected_clients:") <= LANES as u64 + 1);
}

#[tokio::test]
async fn a_burst_on_a_new_store_opens_no_more_connections_than_it_may() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    let mut requests: JoinSet<_> = (0..100).map(|_| store.apply(acquire())).collect();
    while let Some(decision) = requests.join_next().await {
        assert!(decision.unwrap().unwrap().admits());
    }
    assert_eq!(charged(redis), 100);
    // The lanes, and the client that asks.
    assert!(info(redis, "stats", "total_connections_received:") <= LANES as u64 + 1);
}

#[tokio::test]
async fn a_forgotten_program_is_loaded_again_and_charged_once() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    for n in 1..=5 {
        ask::<()>(redis, "SCRIPT FLUSH");
        let decision = store.apply(acquire()).await.unwrap();
        let used = LANES as u64 + n;
        assert_eq!(decision.tiers()[0].verdict().remaining(), u64::from(LIMIT) - used);
        assert_eq!(charged(redis), used);
    }
}

/// Makes calls one after another, of which one may fail for every lane. Returns how many were admitted, and how many
/// failed.
async fn recover(store: &RedisStore) -> (u64, u64) {
    let (mut admitted, mut failures) = (0, Vec::new());
    for _ in 0..4 * LANES {
        match store.apply(acquire()).await {
            Ok(decision) => admitted += u64::from(decision.admits()),
            Err(error) => failures.push(error),
        }
    }
    let lost = |error: &StoreError| matches!(error, StoreError::Connection { .. });
    assert!(failures.len() <= LANES && failures.iter().all(lost), "{failures:?}");
    (admitted, failures.len() as u64)
}

#[tokio::test]
async fn a_killed_connection_is_replaced_and_nothing_is_charged_twice() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    let mut before = charged(redis);
    for _ in 0..5 {
        assert!(ask::<u64>(redis, "CLIENT KILL TYPE normal") > 0);
        let (admitted, failed) = recover(&store).await;
        let charged = charged(redis) - before;
        assert!(
            (admitted..=admitted + failed).contains(&charged),
            "{admitted} {failed} {charged}"
        );
        assert!(info(redis, "clients", "connected_clients:") <= LANES as u64 + 1);
        before += charged;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_sent_is_not_sent_again() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let call = tokio::spawn(store.apply(acquire()));
    // Redis has it, and holds it back.
    while !ask::<String>(redis, "CLIENT LIST").contains(" flags=b ") {
        tokio::task::yield_now().await;
    }
    ask::<()>(redis, "CLIENT KILL TYPE normal");
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, StoreError::Connection { .. }), "{error:?}");
    ask::<()>(redis, "CLIENT UNPAUSE");
    assert_eq!(charged(redis), LANES as u64);
}

#[test]
fn a_store_outlives_the_runtime_that_it_was_first_used_on() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    let runtime = || runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime().block_on(warm_up(&store, redis));
    let before = charged(redis);
    let (admitted, failed) = runtime().block_on(recover(&store));
    let charged = charged(redis) - before;
    assert!(
        (admitted..=admitted + failed).contains(&charged),
        "{admitted} {failed} {charged}"
    );
}

/// A runtime can end while a connection is being made: whoever comes next begins anew.
#[test]
fn a_store_outlives_a_runtime_that_ended_while_it_was_connecting() {
    let server = RedisServer::start();
    let store = builder(&server).build().unwrap();
    let runtime = || runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime().block_on(async {
        for _ in 0..LANES {
            // Polled once, which begins to connect, and then let go of.
            let begun = std::future::poll_fn(|context| {
                let mut call = store.apply(acquire());
                Poll::Ready(call.as_mut().poll(context))
            });
            assert!(begun.await.is_pending());
        }
    });
    let redis = &mut server.client();
    runtime().block_on(warm_up(&store, redis));
    assert_eq!(charged(redis), LANES as u64);
}

/// A node that was demoted answers, but not what it is asked.
#[tokio::test]
async fn a_connection_to_a_node_that_is_no_primary_any_more_is_replaced() {
    for stale in ["yes", "no"] {
        let server = RedisServer::start_with(&["--replica-serve-stale-data", stale]);
        let redis = &mut server.client();
        let store = builder(&server).pool_size(1).build().unwrap();
        store.apply(acquire()).await.unwrap();
        ask::<()>(redis, "REPLICAOF 127.0.0.1 1");
        let before = info(redis, "stats", "total_connections_received:");
        for n in 0..4 {
            let error = store.apply(acquire()).await.unwrap_err();
            assert!(
                matches!(error, StoreError::Refused { .. }) && !error.may_have_charged(),
                "{error:?}"
            );
            assert_eq!(info(redis, "stats", "total_connections_received:"), before + n);
        }
        ask::<()>(redis, "REPLICAOF NO ONE");
        assert!(store.apply(acquire()).await.unwrap().admits());
    }
}

#[tokio::test]
async fn while_one_lane_cannot_connect_the_others_do_its_work() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    let clients: String = ask(redis, "CLIENT LIST");
    let lane = clients
        .lines()
        .find(|client| client.contains("lib-name=tollgate") || client.contains("cmd=evalsha"));
    let id = lane.unwrap().split(' ').next().unwrap().strip_prefix("id=").unwrap();
    // Whoever is there may stay, and nobody may come.
    ask::<()>(redis, "CONFIG SET maxclients 3");
    assert_eq!(ask::<u64>(redis, &format!("CLIENT KILL ID {id}")), 1);
    ask::<()>(redis, "CONFIG SET maxclients 1");
    let mut failed = 0;
    for _ in 0..10 * LANES {
        failed += u64::from(store.apply(acquire()).await.is_err());
    }
    assert!(failed <= 1, "{failed}");
}

/// Whoever calls may be cut off sooner than the deadline; the silence is noticed all the same.
#[tokio::test]
async fn a_connection_that_fell_silent_is_replaced_though_every_caller_leaves_early() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).pool_size(1).build().unwrap();
    store.apply(acquire()).await.unwrap();
    let before = info(redis, "stats", "total_connections_received:");
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    time::pause();
    let mut call = store.apply(acquire());
    assert!(
        std::future::poll_fn(|context| Poll::Ready(call.as_mut().poll(context)))
            .await
            .is_pending()
    );
    drop(call);
    // On one thread, whoever is ready has its turn before this goes on; the lane is let go of when its silence is up.
    while info(redis, "clients", "connected_clients:") > 1 {
        time::advance(Duration::from_secs(1)).await;
    }
    time::resume();
    ask::<()>(redis, "CLIENT UNPAUSE");
    assert!(store.apply(acquire()).await.unwrap().admits());
    assert_eq!(info(redis, "stats", "total_connections_received:"), before + 1);
}

fn assert_deadline(error: StoreError, port: u16, expected: Duration) {
    let words = format!("Redis at 127.0.0.1:{port} did not answer within {expected:?}");
    assert_eq!(error.to_string(), words);
    assert!(
        matches!(error, StoreError::Deadline { deadline, .. } if deadline == expected),
        "{error:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_redis_that_never_greets_costs_the_deadline_and_no_more() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let builder = RedisStore::builder().url(&format!("redis://127.0.0.1:{port}"));
    let deadline = Duration::from_millis(50);
    let store = builder.deadline(deadline).build().unwrap();
    for _ in 0..5 {
        let start = time::Instant::now();
        assert_deadline(store.apply(acquire()).await.unwrap_err(), port, deadline);
        // Timers go by whole milliseconds.
        assert!(start.elapsed() <= deadline + Duration::from_millis(1));
    }
}

#[tokio::test]
async fn a_redis_that_stops_answering_costs_the_deadline_and_charges_at_most_once() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    // With nothing left to do but wait, the runtime's clock leaps to the deadline.
    time::pause();
    let start = time::Instant::now();
    assert_deadline(store.apply(acquire()).await.unwrap_err(), server.port(), PATIENT);
    assert!(start.elapsed() <= PATIENT + Duration::from_millis(1));
    time::resume();
    ask::<()>(redis, "CLIENT UNPAUSE");
    for _ in 0..LANES {
        assert!(store.apply(acquire()).await.unwrap().admits());
    }
    // Whether the one without an answer was charged is unknown; that it was not sent again is sure.
    let charged = charged(redis) - 2 * LANES as u64;
    assert!(charged <= 1, "{charged}");
}
