//! Clients that leave at any moment. What they have asked for may be charged or not, but once, and the whole of it.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use tokio::task::{JoinSet, yield_now};
use tollgate::{Charge, Charges, Key, Operation, Store};

use support::{
    leaks::tasks,
    patience::eventually,
    random::Random,
    redis::{RedisServer, ask, stored},
};

use crate::hazards::{
    fixture::{Mode, Node, Seen, charged, is_exact, key_of, limit},
    left::nothing_is_left,
};

/// How often everything is tried, each time with other users and other moments.
const ROUNDS: u64 = 30;

/// Few enough for all of them to be admitted.
const REQUESTS: u64 = 80;

/// How many connections there are, each with a task of its own that stays.
const LANES: usize = 2;

/// How many turns a client may wait before he leaves. Redis takes some of them to answer.
const TURNS: u64 = 60;

/// What a request does within so many turns, or nothing if it is dropped before that. Without a turn it does nothing.
async fn within<T>(turns: u64, request: impl Future<Output = T>) -> Option<T> {
    let mut request = pin!(request);
    for _ in 0..turns {
        let turn = poll_fn(|context| Poll::Ready(request.as_mut().poll(context)));
        if let Poll::Ready(done) = turn.await {
            return Some(done);
        }
        yield_now().await;
    }
    None
}

/// A request on one tier or on two, and whether it was admitted. It must not fail.
async fn request(node: Node, user: String, tiers: u64) -> bool {
    if tiers == 1 {
        let seen = node.ask(&user).await;
        assert_eq!(seen, Seen::Admitted);
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

/// Every request leaves after turns of its own, some of them while Redis is held.
async fn clients_leave(tiers: u64, seed: u64) {
    let random = &mut Random::seeded(seed);
    let server = RedisServer::start();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store().pool_size(LANES));
    assert_eq!(
        node.ask_times("warm", LANES as u64).await.of(Seen::Admitted),
        LANES as u64
    );
    for round in 0..ROUNDS {
        let user = format!("user{round}");
        let held = random.below(2) == 1;
        if held {
            ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        }
        let (mut clients, mut begun) = (JoinSet::new(), 0);
        for _ in 0..REQUESTS {
            // One of four stays.
            let turns = if random.below(4) == 0 {
                u64::MAX
            } else {
                random.below(TURNS)
            };
            begun += u64::from(turns > 0);
            clients.spawn(within(turns, request(node.clone(), user.clone(), tiers)));
        }
        for _ in 0..random.below(TURNS) {
            yield_now().await;
        }
        if held {
            ask::<()>(redis, "CLIENT UNPAUSE");
        }
        let answers = clients.join_all().await;
        let admitted = answers.into_iter().filter(|answer| *answer == Some(true)).count() as u64;
        // Calls are seen through, whoever has left.
        eventually("calls are seen through", async || tasks() == LANES).await;
        let charged = charged(redis, &user);
        assert!((admitted..=begun).contains(&charged), "{admitted} {charged} {begun}");
        if tiers == 2 {
            let other = stored(redis, &key_of(&user).replace(":user:", ":other:"));
            assert_eq!(stored(redis, &key_of(&user)), other);
        }
        is_exact(&node, redis, &user).await;
    }
    assert!(node.store.health().is_up());
    nothing_is_left([node], &server, 1).await;
}

#[tokio::test]
async fn requests_dropped_at_random() {
    clients_leave(1, 1).await;
}

#[tokio::test]
async fn requests_of_several_tiers_dropped_at_random() {
    clients_leave(2, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_dropped_at_random_on_several_threads() {
    clients_leave(1, 3).await;
    clients_leave(2, 4).await;
}
