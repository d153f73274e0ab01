//! A Redis that does not answer: it costs the deadline, and its connection is replaced.

use std::{net::TcpListener, time::Duration};

use tokio::time;
use tollgate::{RedisStore, Store, StoreError};

use super::fixture::{LANES, acquire, builder, charged, warm_up};
use support::{
    patience::{took, yielding},
    redis::{DEADLINE, RedisServer, ask, begin, info},
};

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
    begin(&mut call).await;
    // It is sent as soon as somebody else has a turn; who leaves before that is never sent at all.
    tokio::task::yield_now().await;
    drop(call);
    // On one thread, whoever is ready has its turn before this goes on; the lane is let go of when its silence is up.
    yielding(async || {
        time::advance(Duration::from_secs(1)).await;
        info(redis, "clients", "connected_clients:") == 1
    })
    .await;
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
async fn a_redis_that_never_greets_costs_the_deadline_three_times_and_then_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let builder = RedisStore::builder().url(&format!("redis://127.0.0.1:{port}"));
    let deadline = Duration::from_millis(50);
    let store = builder.deadline(deadline).build().unwrap();
    for _ in 0..3 {
        assert!(store.health().is_up());
        let start = time::Instant::now();
        assert_deadline(store.apply(acquire()).await.unwrap_err(), port, deadline);
        took(start, deadline);
    }
    let start = time::Instant::now();
    for _ in 0..1000 {
        let error = store.apply(acquire()).await.unwrap_err();
        let StoreError::Down { source, .. } = &error else {
            panic!("{error:?}");
        };
        assert!(!error.may_have_charged());
        assert_deadline((**source).clone(), port, deadline);
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert!(!store.health().is_up());
    let words =
        format!("127.0.0.1:{port} has been down for 0.0ns: Redis at 127.0.0.1:{port} did not answer within 50ms");
    assert_eq!(store.health().to_string(), words);
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
    assert_deadline(store.apply(acquire()).await.unwrap_err(), server.port(), DEADLINE);
    took(start, DEADLINE);
    time::resume();
    ask::<()>(redis, "CLIENT UNPAUSE");
    for _ in 0..LANES {
        assert!(store.apply(acquire()).await.unwrap().admits());
    }
    // Whether the one without an answer was charged is unknown; that it was not sent again is sure.
    let charged = charged(redis) - 2 * LANES as u64;
    assert!(charged <= 1, "{charged}");
}
