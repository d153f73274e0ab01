//! The server's clock is set while it runs. A clock set back grants nothing; a clock set forward grants what is due by then.

use std::time::Duration;

use tollgate::{AnyAlgorithm, Charge, Key, Limit, Operation, Quota, RedisStore, Store, Verdict, redis::Connection};

use support::{
    algorithms::each_algorithm,
    redis::{RedisServer, stored, time},
    server_clock::ServerClock,
    wait::until,
};

use crate::hazards::{
    fixture::{LIMIT, Mode, Node, Response, assert_exact, charged},
    leaks::{assert_keys_expire, assert_no_leaks},
};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// How far the clock is set back: less than a window, one window, and many.
const SET_BACK_BY: [Duration; 3] = [HOUR, DAY, Duration::from_secs(10 * 24 * 3600)];

/// The limit per day, a window that does not end during a test.
const DAILY_LIMIT: u32 = 10;

/// A Valkey server at noon, far from the end of a daily window.
fn at_noon() -> (RedisServer, ServerClock) {
    let (server, mut clock) = RedisServer::valkey_with_clock();
    let time_of_day = time(&mut server.client()) % DAY.as_micros() as u64;
    clock.set_forward(DAY + DAY / 2 - Duration::from_micros(time_of_day));
    (server, clock)
}

/// A user of one limit.
struct User {
    store: RedisStore,
    limit: Limit,
}

impl User {
    fn of(store: &RedisStore, algorithm: AnyAlgorithm, name: &str) -> Self {
        let (store, limit) = (store.clone(), Limit::new(name, algorithm));
        Self { store, limit }
    }

    fn state(&self, redis: &mut Connection) -> String {
        stored(redis, &format!("rate_limit:{}:alice", self.limit)).unwrap()
    }

    async fn acquire(&self) -> Verdict {
        let charge = Charge::new(self.limit.clone(), Key::new("alice"));
        let decision = self.store.apply(Operation::Acquire(charge.into())).await.unwrap();
        decision.tiers()[0].verdict()
    }

    /// Asserts that exactly this many requests are admitted.
    async fn assert_remaining(&self, remaining: u32) {
        for _ in 0..remaining {
            assert!(self.acquire().await.outcome().admits(), "{}", self.limit);
        }
        for _ in 0..3 {
            let denied = self.acquire().await;
            assert!(denied.retry_after().is_some(), "{}: {denied:?}", self.limit);
        }
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_and_forward() {
    let (server, mut clock) = at_noon();
    let redis = &mut server.client();
    let store = server.store().cache_denials(false).build().unwrap();
    for (number, algorithm) in each_algorithm(Quota::per_day(DAILY_LIMIT)).into_iter().enumerate() {
        for (step, back) in SET_BACK_BY.into_iter().enumerate() {
            let exhausted = User::of(&store, algorithm, &format!("exhausted{number}.{step}"));
            let half = User::of(&store, algorithm, &format!("half{number}.{step}"));
            exhausted.assert_remaining(DAILY_LIMIT).await;
            for _ in 0..DAILY_LIMIT / 2 {
                assert!(half.acquire().await.outcome().admits());
            }
            let state = exhausted.state(redis);
            clock.set_back(back);
            exhausted.assert_remaining(0).await;
            half.assert_remaining(DAILY_LIMIT / 2).await;
            clock.set_forward(back);
            exhausted.assert_remaining(0).await;
            half.assert_remaining(0).await;
            // Denied requests have not changed the state.
            assert_eq!(exhausted.state(redis), state);
            assert_keys_expire(redis);
            let due = exhausted
                .acquire()
                .await
                .reset_after()
                .max(half.acquire().await.reset_after());
            assert!(due <= 2 * DAY, "{algorithm:?}: {due:?}");
            clock.set_forward(due);
            exhausted.assert_remaining(DAILY_LIMIT).await;
            half.assert_remaining(DAILY_LIMIT).await;
            assert_keys_expire(redis);
        }
    }
}

/// Waits until at least this much is charged in the current window.
fn until_charged(redis: &mut Connection, count: u64) {
    until("enough is charged", || charged(redis, "alice") >= count);
}

/// No request fails, and each window of the server's clock admits at most the limit.
#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_back_and_forward_under_load() {
    let (server, mut clock) = at_noon();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store());
    let load = node.load("alice", 4);
    for window in 1..=3 {
        until_charged(redis, 1);
        for back in SET_BACK_BY {
            clock.set_back(back);
            clock.set_forward(back);
        }
        until_charged(redis, LIMIT);
        if window < 3 {
            clock.set_forward(DAY);
        }
    }
    let tally = load.stop().await;
    assert_eq!(tally.without_redis(Mode::Closed), 0);
    assert_eq!(tally.of(Response::Admitted), 3 * LIMIT);
    assert_exact(&node, redis, "bob").await;
    assert_no_leaks([node], &server, 1).await;
}
