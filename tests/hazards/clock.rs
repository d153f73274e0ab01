//! The server's clock is set while it runs. A clock set back grants nothing; a clock set forward grants what is due by then.

use std::time::Duration;

use tollgate::{AnyAlgorithm, Charge, Key, Limit, Operation, Quota, RedisStore, Store, Verdict, redis::Connection};

use support::{
    algorithms::each_algorithm,
    redis::{RedisServer, keys, query, stored, time},
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

    fn key(&self) -> String {
        format!("rate_limit:{}:alice", self.limit)
    }

    fn state(&self, redis: &mut Connection) -> String {
        stored(redis, &self.key()).unwrap()
    }

    fn charge(&self) -> Charge {
        Charge::new(self.limit.clone(), Key::new("alice"))
    }

    async fn acquire(&self) -> Verdict {
        let acquire = Operation::Acquire(self.charge().into());
        let decision = self.store.apply(acquire).await.unwrap();
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

/// How far the clock leaps: many windows.
const LEAP: Duration = Duration::from_secs(10 * 24 * 3600);

/// The keys whose time-to-live exceeds that of any state without a leap: two windows.
fn keys_of_the_leap(redis: &mut Connection) -> Vec<String> {
    let max = 2 * DAY.as_millis() as i64;
    let mut found = keys(redis);
    found.retain(|key| query::<i64>(redis, &format!("PTTL {key}")) > max);
    found.sort();
    found
}

/// A key that was charged during a leap admits what it had left then, and denies with a constant `retry_after` until the clock has
/// caught up. Its time-to-live reveals it, and a reset or a `DEL` ends it.
#[tokio::test]
async fn a_clock_that_leaps_forward_and_back() {
    let (server, mut clock) = at_noon();
    let redis = &mut server.client();
    let store = server.store().cache_denials(false).build().unwrap();
    let users = |name: &str| {
        let algorithms = each_algorithm(Quota::per_day(DAILY_LIMIT)).into_iter().enumerate();
        algorithms
            .map(|(number, algorithm)| User::of(&store, algorithm, &format!("{name}{number}")))
            .collect::<Vec<_>>()
    };
    let (charged, others) = (users("charged"), users("other"));
    clock.set_forward(LEAP);
    for user in &charged {
        assert!(user.acquire().await.outcome().admits(), "{}", user.limit);
    }
    clock.set_back(LEAP);
    for user in &others {
        user.assert_remaining(DAILY_LIMIT).await;
    }
    let mut waits = Vec::new();
    for user in &charged {
        user.assert_remaining(DAILY_LIMIT - 1).await;
        waits.push(user.acquire().await.retry_after().unwrap());
    }
    let mut expected: Vec<String> = charged.iter().map(User::key).collect();
    expected.sort();
    assert_eq!(keys_of_the_leap(redis), expected);

    // Longer than each of them, and no quota is added.
    clock.set_forward(2 * DAY);
    for (user, wait) in charged.iter().zip(waits) {
        assert!(wait < 2 * DAY, "{}: {wait:?}", user.limit);
        assert_eq!(user.acquire().await.retry_after(), Some(wait), "{}", user.limit);
        user.assert_remaining(0).await;
    }

    let (repaired, waiting) = charged.split_at(charged.len() - 3);
    for (number, user) in repaired.iter().enumerate() {
        match number % 2 {
            0 => _ = store.apply(Operation::Reset(user.charge().into())).await.unwrap(),
            _ => query::<()>(redis, &format!("DEL {}", user.key())),
        }
        user.assert_remaining(DAILY_LIMIT).await;
    }
    assert_eq!(keys_of_the_leap(redis).len(), waiting.len());
    clock.set_forward(LEAP);
    for user in charged.iter().chain(&others) {
        user.assert_remaining(DAILY_LIMIT).await;
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
