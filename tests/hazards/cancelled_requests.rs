//! Requests dropped at random moments. Each is charged at most once, in all tiers or in none.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use tokio::task::{JoinSet, yield_now};
use tollgate::{Charge, Charges, Key, Operation, Store};

use support::{
    leaks::tasks,
    random::Random,
    redis::{RedisServer, query, stored},
    wait::eventually,
};

use crate::hazards::{
    fixture::{Mode, Node, Response, assert_exact, charged, key_of, limit},
    leaks::assert_no_leaks,
};

/// Rounds per test, each with a new user and new random moments.
const ROUNDS: u64 = 30;

/// Requests per round, below the limit, so that all can be admitted.
const REQUESTS: u64 = 80;

/// The size of the connection pool. Each connection has one task.
const CONNECTIONS: usize = 2;

/// The maximum number of polls before a request is dropped. Redis takes several polls to answer.
const MAX_POLLS: u64 = 60;

/// Polls a request at most this often, then drops it.
async fn poll_at_most<T>(polls: u64, request: impl Future<Output = T>) -> Option<T> {
    let mut request = pin!(request);
    for _ in 0..polls {
        let poll = poll_fn(|context| Poll::Ready(request.as_mut().poll(context)));
        if let Poll::Ready(output) = poll.await {
            return Some(output);
        }
        yield_now().await;
    }
    None
}

/// Sends a request with one or two tiers, and returns whether it was admitted. It must not fail.
async fn request(node: Node, user: String, tiers: u64) -> bool {
    if tiers == 1 {
        let response = node.request(&user).await;
        assert_eq!(response, Response::Admitted);
        return true;
    }
    let mut charges = Charges::new();
    for name in ["user", "other"] {
        charges
            .push(Charge::new(limit(name), Key::verbatim(user.clone())))
            .unwrap();
    }
    let decision = node.store.apply(Operation::Acquire(charges)).await;
    decision.unwrap().admits()
}

/// Drops requests after a random number of polls, in some rounds while Redis is paused.
async fn drop_at_random(tiers: u64, seed: u64) {
    let random = &mut Random::seeded(seed);
    let server = RedisServer::start();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store().pool_size(CONNECTIONS));
    assert_eq!(
        node.request_times("warm", CONNECTIONS as u64)
            .await
            .of(Response::Admitted),
        CONNECTIONS as u64
    );
    for round in 0..ROUNDS {
        let user = format!("user{round}");
        let is_paused = random.below(2) == 1;
        if is_paused {
            query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        }
        let (mut requests, mut started) = (JoinSet::new(), 0);
        for _ in 0..REQUESTS {
            // One in four is not dropped.
            let polls = if random.below(4) == 0 {
                u64::MAX
            } else {
                random.below(MAX_POLLS)
            };
            started += u64::from(polls > 0);
            requests.spawn(poll_at_most(polls, request(node.clone(), user.clone(), tiers)));
        }
        for _ in 0..random.below(MAX_POLLS) {
            yield_now().await;
        }
        if is_paused {
            query::<()>(redis, "CLIENT UNPAUSE");
        }
        let responses = requests.join_all().await;
        let admitted = responses.into_iter().filter(|response| *response == Some(true)).count() as u64;
        eventually("the calls of dropped requests are complete", async || {
            tasks() == CONNECTIONS
        })
        .await;
        let charged = charged(redis, &user);
        assert!(
            (admitted..=started).contains(&charged),
            "{admitted} {charged} {started}"
        );
        if tiers == 2 {
            let other = stored(redis, &key_of(&user).replace(":user:", ":other:"));
            assert_eq!(stored(redis, &key_of(&user)), other);
        }
        assert_exact(&node, redis, &user).await;
    }
    assert!(node.store.health().is_up());
    assert_no_leaks([node], &server, 1).await;
}

#[tokio::test]
async fn requests_dropped_at_random() {
    drop_at_random(1, 1).await;
}

#[tokio::test]
async fn requests_of_several_tiers_dropped_at_random() {
    drop_at_random(2, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_dropped_at_random_on_several_threads() {
    drop_at_random(1, 3).await;
    drop_at_random(2, 4).await;
}
