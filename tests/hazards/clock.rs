//! A Redis whose clock is set while it runs. One that goes back grants nothing; one that goes forward gives what is due by
//! then.

use std::time::Duration;

use tollgate::{Charge, Key, Limit, Operation, Quota, RedisStore, Rule, Store, Verdict, redis::Connection};

use support::{
    patience::until,
    redis::{RedisServer, stored, time},
    rules::each_algorithm,
    server_clock::ServerClock,
};

use crate::hazards::{
    fixture::{LIMIT, Mode, Node, Seen, charged, is_exact},
    left::{every_key_ends, nothing_is_left},
};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// How far it is set back: less than a window, one, and many.
const BACK: [Duration; 3] = [HOUR, DAY, Duration::from_secs(10 * 24 * 3600)];

/// What a limit allows in a day, which lasts longer than a test.
const TEN: u32 = 10;

/// A Valkey at noon, when no day ends and nothing is about to be due.
fn at_noon() -> (RedisServer, ServerClock) {
    let (server, mut clock) = RedisServer::valkey_with_clock();
    let time_of_day = time(&mut server.client()) % DAY.as_micros() as u64;
    clock.set_forward(DAY + DAY / 2 - Duration::from_micros(time_of_day));
    (server, clock)
}

/// A user of a limit, by one algorithm.
struct User {
    store: RedisStore,
    limit: Limit,
}

impl User {
    fn of(store: &RedisStore, rule: Rule, name: &str) -> Self {
        let (store, limit) = (store.clone(), Limit::new(name, rule));
        Self { store, limit }
    }

    fn state(&self, redis: &mut Connection) -> String {
        stored(redis, &format!("rate_limit:{}:alice", self.limit)).unwrap()
    }

    async fn ask(&self) -> Verdict {
        let charge = Charge::new(self.limit.clone(), Key::new("alice"));
        let decision = self.store.apply(Operation::Acquire(charge.into())).await.unwrap();
        decision.tiers()[0].verdict()
    }

    /// So many are admitted, and not one more.
    async fn has(&self, left: u32) {
        for _ in 0..left {
            assert!(self.ask().await.outcome().admits(), "{}", self.limit);
        }
        for _ in 0..3 {
            let refused = self.ask().await;
            assert!(refused.retry_after().is_some(), "{}: {refused:?}", self.limit);
        }
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_and_forward() {
    let (server, mut clock) = at_noon();
    let redis = &mut server.client();
    let store = server.store().repeat_refusals(false).build().unwrap();
    for (number, rule) in each_algorithm(Quota::per_day(TEN)).into_iter().enumerate() {
        for (step, back) in BACK.into_iter().enumerate() {
            let spent = User::of(&store, rule, &format!("spent{number}.{step}"));
            let half = User::of(&store, rule, &format!("half{number}.{step}"));
            spent.has(TEN).await;
            for _ in 0..TEN / 2 {
                assert!(half.ask().await.outcome().admits());
            }
            let state = spent.state(redis);
            clock.set_back(back);
            spent.has(0).await;
            half.has(TEN / 2).await;
            clock.set_forward(back);
            spent.has(0).await;
            half.has(0).await;
            // Of those who were refused nothing has changed.
            assert_eq!(spent.state(redis), state);
            every_key_ends(redis);
            let due = spent.ask().await.reset_after().max(half.ask().await.reset_after());
            assert!(due <= 2 * DAY, "{rule:?}: {due:?}");
            clock.set_forward(due);
            spent.has(TEN).await;
            half.has(TEN).await;
            every_key_ends(redis);
        }
    }
}

/// Waits until so much is charged in the window that there is.
fn at_least(redis: &mut Connection, count: u64) {
    until("so much is charged", || charged(redis, "alice") >= count);
}

/// Nobody sees anything of it, and no more is admitted than in each window by Redis's reckoning.
#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_set_back_and_forward_under_load() {
    let (server, mut clock) = at_noon();
    let redis = &mut server.client();
    let node = Node::new(Mode::Closed, server.store());
    let load = node.load("alice", 4);
    for window in 1..=3 {
        at_least(redis, 1);
        for back in BACK {
            clock.set_back(back);
            clock.set_forward(back);
        }
        at_least(redis, LIMIT);
        if window < 3 {
            clock.set_forward(DAY);
        }
    }
    let seen = load.stop().await;
    assert_eq!(seen.without_redis(Mode::Closed), 0);
    assert_eq!(seen.of(Seen::Admitted), 3 * LIMIT);
    is_exact(&node, redis, "bob").await;
    nothing_is_left([node], &server, 1).await;
}
