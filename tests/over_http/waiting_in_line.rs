//! Several requests that wait for one key: they stand in line.

use tokio::task::JoinHandle;
use tollgate::{FixedWindow, Global, Header, Key, Limit, ManualClock, Quota, RateLimitLayer, RedisStore, TokenBucket};

use support::{
    held::{Held, MICRO, SECOND, one},
    redis::{RedisServer, calls},
};

use crate::over_http::{
    fixture::{NOW, Reply, TestStore, on_both_stores, yielding},
    handlers::asked,
};

on_both_stores![
    five_clients_pass_in_the_order_of_their_coming,
    who_comes_new_does_not_overtake_though_there_is_something_left,
    who_does_not_fit_into_the_line_is_refused_at_once_and_takes_nothing,
    who_is_refused_is_told_no_other_users_numbers,
    the_head_leaves_and_the_next_one_moves_up,
    one_in_the_middle_leaves_and_the_others_move_up,
    everybody_leaves_and_nobody_has_to_wait_behind_them,
];

/// A line for one every ten seconds, beside a tier that counts a hundred a day.
async fn line<St: TestStore>(waiters: usize) -> Held<St> {
    Held::behind(|app, store| {
        let layer = RateLimitLayer::new("api", one(), Global, store)
            .tier("count", count(), Global)
            .unlisted()
            .wait(60 * SECOND)
            .waiters(waiters);
        app.layer(layer)
    })
    .await
}

fn count() -> FixedWindow {
    FixedWindow::new(Quota::per_day(100))
}

fn limits(reset: u32, more_in: u32) -> String {
    format!(r#"1 0 {reset} | "api";q=1;w=10 | "api";r=0;t={more_in}"#)
}

/// Requests that get into line one after the other.
async fn waiting<St: TestStore, const N: usize>(held: &Held<St>, requests: [u32; N]) -> [JoinHandle<Reply>; N] {
    let mut waiting = Vec::new();
    for request in requests {
        waiting.push(held.wait(request).await);
    }
    waiting.try_into().unwrap()
}

/// Those who are left in line pass one every ten seconds, and not a microsecond earlier.
async fn pass<St: TestStore>(held: &Held<St>, waiting: impl IntoIterator<Item = JoinHandle<Reply>>) {
    for waiting in waiting {
        let (served, left) = (held.served(), held.clock.waiting());
        held.clock.advance(10 * SECOND - MICRO);
        assert_eq!(held.served(), served);
        held.clock.advance(MICRO);
        let (status, _, told) = waiting.await.unwrap().all();
        let now = held.clock.now().div_ceil(1_000_000) as u32;
        assert_eq!((status, told), (200, limits(now + 10, 10)));
        held.settled(left - 1).await;
    }
}

fn seconds<const N: usize>(served: [(u32, u64); N]) -> [(u32, u64); N] {
    served.map(|(request, at)| (request, at * 1_000_000))
}

async fn five_clients_pass_in_the_order_of_their_coming<St: TestStore>() {
    let held = line::<St>(100).await;
    assert_eq!(held.get(0).await.status, 200);
    let clients = waiting(&held, [5, 3, 1, 4, 2]).await;
    pass(&held, clients).await;
    let served = [(0, 0), (5, 10), (3, 20), (1, 30), (4, 40), (2, 50)];
    assert_eq!(held.served(), seconds(served));
    assert_eq!((held.left("count", count()).await, held.clock.waiting()), (94, 0));
}

async fn who_comes_new_does_not_overtake_though_there_is_something_left<St: TestStore>() {
    let bucket = TokenBucket::new(Quota::per_second(1)).capacity(3);
    let limit = |store| {
        RateLimitLayer::new("api", bucket, Global, store)
            .cost(asked)
            .wait(60 * SECOND)
    };
    let held = Held::<St>::behind(|app, store| app.layer(limit(store))).await;
    assert_eq!(held.get_with(0, ("x-cost", "3")).await.status, 200);
    let large = held.wait_for(held.get_with(1, ("x-cost", "3"))).await;
    held.clock.advance(2 * SECOND);
    assert_eq!(held.left("api", bucket).await, 2);
    let small = [held.wait(2).await, held.wait(3).await];
    assert_eq!((held.left("api", bucket).await, held.served()), (2, vec![(0, 0)]));
    held.clock.advance(SECOND);
    assert_eq!(large.await.unwrap().status, 200);
    for (small, left) in small.into_iter().zip([2, 1]) {
        held.settled(left).await;
        held.clock.advance(SECOND);
        assert_eq!(small.await.unwrap().status, 200);
    }
    assert_eq!(held.served(), seconds([(0, 0), (1, 3), (2, 4), (3, 5)]));
}

async fn who_does_not_fit_into_the_line_is_refused_at_once_and_takes_nothing<St: TestStore>() {
    let held = line::<St>(3).await;
    assert_eq!(held.get(0).await.status, 200);
    let [head, second, third] = waiting(&held, [1, 2, 3]).await;
    assert_eq!(held.get(4).await.all(), (429, "10".into(), limits(626, 10)));
    held.clock.advance(3 * SECOND + MICRO);
    assert_eq!(held.get(5).await.all(), (429, "7".into(), limits(626, 7)));
    assert_eq!((held.left("count", count()).await, held.clock.waiting()), (99, 3));
    held.clock.advance(7 * SECOND - MICRO);
    assert_eq!(head.await.unwrap().status, 200);
    // There is room for one again.
    let sixth = tokio::spawn(held.get(6));
    held.settled(3).await;
    assert_eq!(held.get(7).await.status, 429);
    pass(&held, [second, third, sixth]).await;
    assert_eq!(held.served(), seconds([(0, 0), (1, 10), (2, 20), (3, 30), (6, 40)]));
    assert_eq!(held.left("count", count()).await, 95);
}

async fn who_is_refused_is_told_no_other_users_numbers<St: TestStore>() {
    let user = FixedWindow::new(Quota::per_day(5));
    let limit = |store| {
        RateLimitLayer::new("user", user, Header::new("x-user-id"), store)
            .tier("all", one(), Global)
            // In either order.
            .waiters(1)
            .wait(60 * SECOND)
    };
    let held = Held::<St>::behind(|app, store| app.layer(limit(store))).await;
    let as_user = |request, user| held.get_with(request, ("x-user-id", user));
    assert_eq!(as_user(0, "alice").await.status, 200);
    let alice = held.wait_for(as_user(1, "alice")).await;
    let all = r#"1 0 626 | "all";q=1;w=10 | "all";r=0;t=10"#;
    for user in ["bob", "carol"] {
        assert_eq!(as_user(2, user).await.all(), (429, "10".into(), all.into()));
    }
    // She is told her own: four are left of five.
    let hers = r#"1 0 626 | "user";q=5;w=86400, "all";q=1;w=10 | "user";r=4;t=85785, "all";r=0;t=10"#;
    assert_eq!(as_user(2, "alice").await.all(), (429, "10".into(), hers.into()));
    held.clock.advance(10 * SECOND);
    assert_eq!(alice.await.unwrap().status, 200);
    let limit = Limit::new("user", user);
    for (user, left) in [("alice", 3), ("bob", 5), ("carol", 5)] {
        assert_eq!(
            held.store.left(&limit, &Key::named("x-user-id", user)).await,
            left,
            "{user}"
        );
    }
}

/// A client hangs up, and the server sees it.
async fn leave<St: TestStore>(held: &Held<St>, client: JoinHandle<Reply>) {
    let waiting = held.clock.waiting();
    client.abort();
    held.settled(waiting - 1).await;
}

async fn the_head_leaves_and_the_next_one_moves_up<St: TestStore>() {
    let held = line::<St>(100).await;
    assert_eq!(held.get(0).await.status, 200);
    let [head, second, third] = waiting(&held, [1, 2, 3]).await;
    leave(&held, head).await;
    // Nobody has to wait for a turn that nobody takes.
    pass(&held, [second, third]).await;
    assert_eq!(held.served(), seconds([(0, 0), (2, 10), (3, 20)]));
    assert_eq!(held.left("count", count()).await, 97);
}

async fn one_in_the_middle_leaves_and_the_others_move_up<St: TestStore>() {
    let held = line::<St>(3).await;
    assert_eq!(held.get(0).await.status, 200);
    let [head, second, third] = waiting(&held, [1, 2, 3]).await;
    assert_eq!(held.get(9).await.status, 429);
    leave(&held, second).await;
    // Its place is free.
    let fourth = held.wait(4).await;
    assert_eq!(held.get(9).await.status, 429);
    pass(&held, [head, third, fourth]).await;
    assert_eq!(held.served(), seconds([(0, 0), (1, 10), (3, 20), (4, 30)]));
    assert_eq!(held.left("count", count()).await, 96);
}

async fn everybody_leaves_and_nobody_has_to_wait_behind_them<St: TestStore>() {
    let held = line::<St>(100).await;
    assert_eq!(held.get(0).await.status, 200);
    let [head, second, third] = waiting(&held, [1, 2, 3]).await;
    for client in [second, third, head] {
        leave(&held, client).await;
    }
    assert_eq!(held.left("count", count()).await, 99);
    held.clock.advance(10 * SECOND);
    assert_eq!(held.get(4).await.status, 200);
    assert_eq!(held.served(), seconds([(0, 0), (4, 10)]));
}

#[tokio::test]
async fn however_many_wait_only_the_first_of_them_asks_redis() {
    const CLIENTS: u32 = 20;
    let (redis, clock) = (RedisServer::start(), ManualClock::at(NOW));
    let store = redis.store().clock(clock.clone()).build().unwrap();
    let limit = |store| RateLimitLayer::new("api", one(), Global, store).wait(600 * SECOND);
    let held = Held::<RedisStore>::on(store, clock, |app, store| app.layer(limit(store))).await;
    let (mut stats, mut asked) = (redis.client(), 0);
    let mut has_asked = async |times| {
        asked += times;
        yielding(async || calls(&mut stats, "evalsha") >= asked).await;
        assert_eq!(calls(&mut stats, "evalsha"), asked);
    };
    assert_eq!(held.get(0).await.status, 200);
    // The first time, Redis does not know the script yet.
    has_asked(2).await;
    let mut line = Vec::new();
    for client in 1..=CLIENTS {
        line.push(held.wait(client).await);
    }
    has_asked(1).await;
    for (client, waiting) in (1..).zip(line) {
        held.clock.advance(10 * SECOND);
        assert_eq!(waiting.await.unwrap().status, 200);
        // It asks once and passes. The next one asks once, and is told how long to wait.
        has_asked(if client < CLIENTS { 2 } else { 1 }).await;
        held.settled((CLIENTS - client) as usize).await;
    }
    let served: Vec<_> = (0..=CLIENTS)
        .map(|client| (client, u64::from(client) * 10_000_000))
        .collect();
    assert_eq!(held.served(), served);
}
