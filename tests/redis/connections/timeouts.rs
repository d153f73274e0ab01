//! An unresponsive Redis: calls fail at their deadline, and the connection is replaced.

use std::{net::TcpListener, time::Duration};

use tokio::time;
use tollgate::{RedisStore, Store, StoreError};

use super::fixture::{CONNECTIONS, acquire, builder, charged, warm_up};
use support::{
    redis::{DEADLINE, RedisServer, info, poll_once, query},
    wait::{assert_elapsed, yield_until},
};

/// The store detects an unresponsive connection even if every caller drops its call before the deadline.
#[tokio::test]
async fn an_unresponsive_connection_is_replaced_though_its_calls_are_dropped() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).pool_size(1).build().unwrap();
    store.apply(acquire()).await.unwrap();
    let before = info(redis, "stats", "total_connections_received:");
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    time::pause();
    let mut call = store.apply(acquire());
    poll_once(&mut call).await;
    // The sender task sends the call on its next poll; a call dropped before that is never sent.
    tokio::task::yield_now().await;
    drop(call);
    // The store closes the connection when its timeout has elapsed.
    yield_until(async || {
        time::advance(Duration::from_secs(1)).await;
        info(redis, "clients", "connected_clients:") == 1
    })
    .await;
    time::resume();
    query::<()>(redis, "CLIENT UNPAUSE");
    assert!(store.apply(acquire()).await.unwrap().admits());
    assert_eq!(info(redis, "stats", "total_connections_received:"), before + 1);
}

fn assert_deadline(error: StoreError, port: u16, expected: Duration) {
    let StoreError::Deadline { deadline, sent, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(deadline, expected);
    let advice = match sent {
        true => "; it accepted the connection, so it may be stopped or blocked",
        false => "",
    };
    let message = format!("Redis at 127.0.0.1:{port} did not answer within {expected:?}{advice}");
    assert_eq!(error.to_string(), message);
}

#[tokio::test(start_paused = true)]
async fn three_timeouts_open_the_circuit_breaker() {
    let unresponsive = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = unresponsive.local_addr().unwrap().port();
    let builder = RedisStore::builder().url(&format!("redis://127.0.0.1:{port}"));
    let deadline = Duration::from_millis(50);
    let store = builder.deadline(deadline).build().unwrap();
    for _ in 0..3 {
        assert!(store.health().is_up());
        let start = time::Instant::now();
        assert_deadline(store.apply(acquire()).await.unwrap_err(), port, deadline);
        assert_elapsed(start, deadline);
    }
    let start = time::Instant::now();
    for _ in 0..1000 {
        let error = store.apply(acquire()).await.unwrap_err();
        let StoreError::CircuitOpen { source, .. } = &error else {
            panic!("{error:?}");
        };
        assert!(!error.may_have_charged());
        assert_deadline((**source).clone(), port, deadline);
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(!store.health().is_up());
    let message =
        format!("127.0.0.1:{port} has been down for 0.0ns: Redis at 127.0.0.1:{port} did not answer within 50ms");
    assert_eq!(store.health().to_string(), message);
}

#[tokio::test]
async fn a_call_without_a_reply_fails_at_the_deadline_and_is_charged_at_most_once() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = builder(&server).build().unwrap();
    warm_up(&store, redis).await;
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    // The paused clock advances to the deadline when the runtime is idle.
    time::pause();
    let start = time::Instant::now();
    assert_deadline(store.apply(acquire()).await.unwrap_err(), server.port(), DEADLINE);
    assert_elapsed(start, DEADLINE);
    time::resume();
    query::<()>(redis, "CLIENT UNPAUSE");
    for _ in 0..CONNECTIONS {
        assert!(store.apply(acquire()).await.unwrap().admits());
    }
    // The call without a reply may have been charged, but was not sent again.
    let charged = charged(redis) - 2 * CONNECTIONS as u64;
    assert!(charged <= 1, "{charged}");
}
