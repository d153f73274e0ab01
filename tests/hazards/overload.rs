//! More requests than Redis can decide before their deadlines.

use std::time::Duration;

use tokio::{
    task::{JoinSet, yield_now},
    time::advance,
};
use tollgate::{Charge, Key, Operation, RedisStore, Store, StoreError};

use support::{
    log,
    proxy::{Direction, Proxy},
    redis::{RedisServer, info, query},
    wait::{stop_clock, yield_until},
};

use crate::hazards::fixture::limit;

const REQUESTS: usize = 3000;

/// What is in flight: the first request, which is sent at once, and a call as large as a batch may be.
const IN_FLIGHT: usize = 1 + 128;

const DEADLINE: Duration = Duration::from_secs(2);

fn acquire() -> Operation {
    Operation::Acquire(Charge::new(limit("user"), Key::GLOBAL).into())
}

/// Two calls are in flight for more than half of the deadline: then the time left is too short for the requests in the queue.
#[tokio::test]
async fn requests_that_redis_cannot_decide_in_time_are_shed_and_reported() {
    log::listen();
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = RedisStore::builder().url(&server.url()).deadline(DEADLINE);
    let store = store.pool_size(1).max_calls_in_flight(2).build().unwrap();
    assert!(store.apply(acquire()).await.is_ok());
    assert!(!store.health().is_overloaded());
    let clock = stop_clock();
    // The round trip of the first call is no longer recent.
    advance(2 * DEADLINE).await;
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let mut requests = JoinSet::new();
    (0..REQUESTS).for_each(|_| _ = requests.spawn(store.apply(acquire())));
    yield_until(async || info(redis, "clients", "blocked_clients:") == 1).await;
    advance(DEADLINE * 3 / 5).await;
    query::<()>(redis, "CLIENT UNPAUSE");

    let (mut decided, mut shed) = (0, 0);
    while let Some(response) = requests.join_next().await {
        match response.unwrap() {
            Ok(_) => decided += 1,
            Err(error @ StoreError::Overloaded { .. }) => {
                assert!(!error.may_have_charged());
                shed += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((decided, shed), (IN_FLIGHT, REQUESTS - IN_FLIGHT));
    let health = store.health();
    assert!(health.is_up() && health.is_overloaded(), "{health}");
    assert!(
        health.to_string().ends_with("; overloaded: requests are shed"),
        "{health}"
    );
    let address = format!("127.0.0.1:{}", server.port());
    let lines = log::take(|line| line.field("message").starts_with("overloaded") && line.field("address") == address);
    assert_eq!(lines.len(), 1, "the log is throttled");
    clock.end().await;
}

/// A call that gets no reply before its deadline, while Redis replies to earlier ones on the same connection, is slow: the connection
/// is not replaced, and the circuit breaker stays closed.
#[tokio::test]
async fn a_late_reply_is_no_failure_of_a_connection_that_replies() {
    /// More than open the circuit breaker.
    const LATE_CALLS: usize = 5;
    let server = RedisServer::start();
    let redis = &mut server.client();
    let mut proxy = Proxy::to(server.port());
    let store = RedisStore::builder().url(&proxy.url()).deadline(DEADLINE).pool_size(1);
    let store = store.build().unwrap();
    assert!(store.apply(acquire()).await.is_ok());
    let clock = stop_clock();
    for _ in 0..LATE_CALLS {
        query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        let in_time = tokio::spawn(store.apply(acquire()));
        yield_until(async || info(redis, "clients", "blocked_clients:") == 1).await;
        proxy.delay(Direction::ToServer, Duration::from_secs(600));
        let late = tokio::spawn(store.apply(acquire()));
        // Runs the spawned request, then its sender task.
        for _ in 0..2 {
            yield_now().await;
        }
        // The first call is replied to after the second one was sent.
        advance(DEADLINE / 4).await;
        query::<()>(redis, "CLIENT UNPAUSE");
        assert!(in_time.await.unwrap().is_ok());
        advance(DEADLINE).await;
        let error = late.await.unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Deadline { sent: true, .. }), "{error:?}");
        proxy.heal();
        assert!(
            store.apply(acquire()).await.is_ok(),
            "the same connection replies again"
        );
    }
    clock.end().await;
    assert!(store.health().is_up());
    assert_eq!(proxy.total_connections(), 1);
}
