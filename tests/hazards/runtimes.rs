//! A runtime that ends while the store is in use, and another one that goes on with it.

use tokio::{
    runtime::{Builder, Runtime},
    task::yield_now,
};

use support::{
    patience::patiently,
    redis::{RedisServer, ask},
};

use crate::hazards::{
    fixture::{MODES, Node, Seen, charged, is_exact},
    left::nothing_is_left,
};

/// How many connections a store has unless told otherwise.
const LANES: u64 = 2;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Begins as many requests, and does not wait for them.
async fn begin(node: &Node, requests: u64) {
    for _ in 0..requests {
        let node = node.clone();
        tokio::spawn(async move { node.ask("alice").await });
        // On one thread, whoever was spawned gets his turn before this goes on: a request, and then who sends it.
        for _ in 0..2 {
            yield_now().await;
        }
    }
}

/// Its connections end with it. Whoever finds one dead is told so; whether what it carried was charged is unknown.
#[test]
fn a_runtime_that_ends_with_calls_in_flight() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store());
        let first = runtime();
        assert_eq!(first.block_on(node.ask_times("alice", 10)).of(Seen::Admitted), 10);
        ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        first.block_on(begin(&node, 50));
        drop(first);
        ask::<()>(redis, "CLIENT UNPAUSE");
        runtime().block_on(async {
            let seen = node.ask_times("alice", 10).await;
            let lost = seen.without_redis(mode);
            assert!(lost <= LANES, "{seen:?}");
            assert_eq!(seen.of(Seen::Admitted), 10 - lost);
            assert!(node.store.health().is_up());
            let charged = charged(redis, "alice");
            assert!((20 - lost..=70).contains(&charged), "{seen:?} {charged}");
            is_exact(&node, redis, "alice").await;
            nothing_is_left([node], &server, 1).await;
        });
    }
}

/// Whoever waits on another runtime for a task of the one that ends is told so, and not left waiting.
#[test]
fn a_runtime_that_ends_with_the_calls_of_another_one() {
    for mode in MODES {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let node = Node::new(mode, server.store().pool_size(1));
        let (first, second) = (runtime(), runtime());
        assert_eq!(first.block_on(node.ask_times("alice", 10)).of(Seen::Admitted), 10);
        ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        // One leads, and the lane's task sends the other one; who comes next waits for that task.
        first.block_on(begin(&node, 2));
        let waiting = [(); 5].map(|()| {
            let node = node.clone();
            second.spawn(async move { node.ask("alice").await })
        });
        second.block_on(yield_now());
        drop(first);
        ask::<()>(redis, "CLIENT UNPAUSE");
        second.block_on(async {
            for one in waiting {
                let seen = patiently(one).await.unwrap();
                assert!(mode.allows(seen), "{mode:?}: {seen:?}");
            }
            let seen = node.ask_times("alice", 10).await;
            let lost = seen.without_redis(mode);
            assert!(lost <= 1, "{seen:?}");
            let charged = charged(redis, "alice");
            assert!((20 - lost..=22).contains(&charged), "{seen:?} {charged}");
            is_exact(&node, redis, "alice").await;
            nothing_is_left([node], &server, 1).await;
        });
    }
}

/// Whoever comes next finds that nobody looks after Redis any more, and sees to it.
#[test]
fn a_runtime_that_ends_while_redis_is_down() {
    for mode in MODES {
        let mut server = RedisServer::start();
        let node = Node::new(mode, server.store());
        runtime().block_on(async {
            assert_eq!(node.ask_times("alice", 10).await.of(Seen::Admitted), 10);
            server.kill();
            assert_eq!(node.ask_times("alice", 50).await.without_redis(mode), 50);
        });
        server.restart();
        let redis = &mut server.client();
        runtime().block_on(async {
            // Nobody has looked in between.
            assert!(!node.store.health().is_up());
            assert!(mode.allows(node.ask("alice").await));
            node.is_back().await;
            assert_eq!(charged(redis, "alice"), 0);
            is_exact(&node, redis, "alice").await;
            nothing_is_left([node], &server, 1).await;
        });
    }
}
