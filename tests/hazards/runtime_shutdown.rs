//! A runtime that shuts down while the store is in use, and another one that continues to use the store.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::{
    runtime::{Builder, Runtime},
    task::yield_now,
    time,
};
use tollgate::{Concurrency, Global, Key, Limiter, StoreError, Tier};

use support::{
    redis::{DEADLINE, RedisServer, query},
    wait::{eventually, with_timeout},
};

use crate::hazards::{
    fixture::{MODES, Node, Response, Tally, assert_exact, charged},
    leaks::assert_no_leaks,
};

/// The default size of the connection pool.
const CONNECTIONS: u64 = 2;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Starts requests without waiting for them.
async fn start(node: &Node, requests: u64) {
    for _ in 0..requests {
        let node = node.clone();
        tokio::spawn(async move { node.request("alice").await });
        // Runs the spawned request, then the sender task.
        for _ in 0..2 {
            yield_now().await;
        }
    }
}

/// The connections end with the runtime. The next request on each fails; the calls in flight may have been charged.
#[test]
fn runtime_shutdown_with_calls_in_flight() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        let first = runtime();
        assert_eq!(
            first.block_on(node.request_times("alice", 10)).of(Response::Admitted),
            10
        );
        query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        first.block_on(start(&node, 50));
        drop(first);
        query::<()>(redis, "CLIENT UNPAUSE");
        runtime().block_on(async {
            let tally = node.request_times("alice", 10).await;
            let lost = tally.without_redis(mode);
            assert!(lost <= CONNECTIONS, "{tally:?}");
            assert_eq!(tally.of(Response::Admitted), 10 - lost);
            assert!(node.store.health().is_up());
            let charged = charged(redis, "alice");
            assert!((20 - lost..=70).contains(&charged), "{tally:?} {charged}");
            assert_exact(&node, redis, "alice").await;
            assert_no_leaks([node], &server, 1).await;
        });
    }
}

/// Requests on another runtime do not depend on the sender tasks of the first, but the connection may end with it.
#[test]
fn runtime_shutdown_with_calls_of_another_runtime() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1).max_calls_in_flight(2));
        let (first, second) = (runtime(), runtime());
        assert_eq!(
            first.block_on(node.request_times("alice", 10)).of(Response::Admitted),
            10
        );
        query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        // One request is sent inline and one by the sender task.
        first.block_on(start(&node, 2));
        let waiting = [(); 5].map(|()| {
            let node = node.clone();
            second.spawn(async move { node.request("alice").await })
        });
        second.block_on(yield_now());
        drop(first);
        query::<()>(redis, "CLIENT UNPAUSE");
        second.block_on(async {
            let mut tally = Tally::default();
            for request in waiting {
                tally.count(with_timeout(request).await.unwrap());
            }
            tally.add(&node.request_times("alice", 10).await);
            let lost = tally.without_redis(mode);
            assert!(lost <= 6, "{tally:?}");
            assert_eq!(tally.of(Response::Admitted), 15 - lost);
            let charged = charged(redis, "alice");
            assert!((25 - lost..=27).contains(&charged), "{tally:?} {charged}");
            assert_exact(&node, redis, "alice").await;
            assert_no_leaks([node], &server, 1).await;
        });
    }
}

/// A runtime that polls no task, as between two calls of `block_on`, delays no request of another runtime beyond its deadline.
#[test]
fn a_runtime_that_stands_still_does_not_delay_requests_of_another() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1).max_calls_in_flight(2));
        let (first, second) = (runtime(), runtime());
        assert_eq!(
            first.block_on(node.request_times("alice", 10)).of(Response::Admitted),
            10
        );
        query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        first.block_on(start(&node, 3));
        query::<()>(redis, "CLIENT UNPAUSE");
        second.block_on(async {
            // The paused clock advances to the deadline when the runtime is idle. The first runtime reads no reply from the connection.
            time::pause();
            node.requests_time_out(mode, "alice", [DEADLINE]).await;
            time::resume();
            // The connection was replaced.
            assert_eq!(node.request("alice").await, Response::Admitted);
            assert!(node.store.health().is_up());
        });
        drop(first);
        second.block_on(assert_exact(&node, redis, "alice"));
    }
}

/// The probe task ends with the runtime; the next request starts it again.
#[test]
fn runtime_shutdown_while_redis_is_down() {
    for mode in MODES {
        let mut server = RedisServer::start();
        let node = Node::new(mode, server.store());
        runtime().block_on(async {
            assert_eq!(node.request_times("alice", 10).await.of(Response::Admitted), 10);
            server.kill();
            assert_eq!(node.request_times("alice", 50).await.without_redis(mode), 50);
        });
        server.restart();
        let redis = &mut server.client();
        runtime().block_on(async {
            // No probe ran in between.
            assert!(!node.store.health().is_up());
            assert!(mode.allows(node.request("alice").await));
            node.until_recovered().await;
            assert_eq!(charged(redis, "alice"), 0);
            assert_exact(&node, redis, "alice").await;
            assert_no_leaks([node], &server, 1).await;
        });
    }
}

/// What a request would do about its slots when it is dropped needs a runtime, and its failed call could open the circuit breaker, whose
/// probe does, too.
#[test]
fn requests_that_outlive_their_runtime_are_dropped_without_a_panic() {
    let server = RedisServer::start();
    // What is not released expires long after the test.
    let slots = Concurrency::new(2).time_to_live(Duration::from_secs(3600));
    let uploads = Limiter::new(Tier::new("uploads", slots, Global), server.store().build().unwrap());
    let key = Key::GLOBAL;
    for _ in 0..4 {
        let first = runtime();
        // One is sent inline, and one by the sender task.
        let mut requests = [(); 2].map(|()| Box::pin(uploads.check(&key)));
        first.block_on(async {
            for request in &mut requests {
                assert!(request.now_or_never().is_none());
            }
        });
        drop(first);
        drop(requests);
    }
    runtime().block_on(async {
        eventually("both slots are free", async || {
            let held = [uploads.check(&key).await, uploads.check(&key).await];
            let admitted = held.iter().flatten().filter(|decision| decision.admits()).count();
            for mut decision in held.into_iter().flatten() {
                if let Some(receipt) = decision.take_receipt() {
                    uploads.refund(receipt).await.unwrap();
                }
            }
            admitted == 2
        })
        .await;
    });
}

#[test]
fn without_a_runtime_nothing_is_sent() {
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    let checked = store.check().now_or_never();
    assert!(matches!(checked, Some(Err(StoreError::NoRuntime))), "{checked:?}");
    assert!(store.return_leases().now_or_never().is_some());
}
