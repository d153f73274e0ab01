//! Several requests that wait for one key, in a first-in-first-out queue.

use std::time::Duration;

use tokio::task::JoinHandle;
use tollgate::{
    FixedWindow, Global, Header, Key, Limit, ManualClock, Quota, RateLimitLayer, RedisStore, Tier, TokenBucket,
};

use support::{
    queued_server::{MICRO, QueuedServer, SECOND, one_per_10s},
    redis::{RedisServer, calls},
};

use crate::over_http::fixture::{NOW, Reply, TestStore, on_both_stores, requested_cost, yield_until};

on_both_stores![
    requests_are_admitted_in_arrival_order,
    cheap_requests_overtake_a_costly_one_only_if_it_can_wait,
    a_full_wait_queue_denies_at_once_and_charges_nothing,
    a_denial_does_not_report_the_quota_of_another_key,
    a_disconnect_at_the_head_moves_the_queue_up,
    a_disconnect_in_the_middle_moves_the_queue_up,
    a_queue_is_empty_after_every_client_disconnected,
];

/// One request per ten seconds with a wait queue, beside a tier that counts a hundred per day.
async fn wait_queue<St: TestStore>(waiters: usize) -> QueuedServer<St> {
    QueuedServer::with_layer(|app, store| {
        let layer = RateLimitLayer::new(Tier::new("api", one_per_10s(), Global), store)
            .tier(Tier::new("count", count(), Global).hidden())
            .wait(60 * SECOND)
            .max_waiters(waiters);
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

/// Sends requests that enter the queue one after the other.
async fn waiting<St: TestStore, const N: usize>(held: &QueuedServer<St>, requests: [u32; N]) -> [JoinHandle<Reply>; N] {
    let mut waiting = Vec::new();
    for request in requests {
        waiting.push(held.wait(request).await);
    }
    waiting.try_into().unwrap()
}

/// The queued requests are admitted one every ten seconds, and not a microsecond earlier.
async fn pass<St: TestStore>(held: &QueuedServer<St>, waiting: impl IntoIterator<Item = JoinHandle<Reply>>) {
    for waiting in waiting {
        let (served, left) = (held.served(), held.clock.pending_sleeps());
        held.clock.advance(10 * SECOND - MICRO);
        assert_eq!(held.served(), served);
        held.clock.advance(MICRO);
        let (status, _, reported) = waiting.await.unwrap().all();
        let now = held.clock.now().div_ceil(1_000_000) as u32;
        assert_eq!((status, reported), (200, limits(now + 10, 10)));
        held.until_waiting(left - 1).await;
    }
}

fn seconds<const N: usize>(served: [(u32, u64); N]) -> [(u32, u64); N] {
    served.map(|(request, at)| (request, at * 1_000_000))
}

async fn requests_are_admitted_in_arrival_order<St: TestStore>() {
    let held = wait_queue::<St>(100).await;
    assert_eq!(held.get(0).await.status, 200);
    let clients = waiting(&held, [5, 3, 1, 4, 2]).await;
    pass(&held, clients).await;
    let served = [(0, 0), (5, 10), (3, 20), (1, 30), (4, 40), (2, 50)];
    assert_eq!(held.served(), seconds(served));
    assert_eq!(
        (held.left("count", count()).await, held.clock.pending_sleeps()),
        (94, 0)
    );
}

/// Two seconds after a costly request began to wait, with two units available for cheap ones.
async fn costly_and_two_units<St: TestStore>(max_wait: Duration) -> (QueuedServer<St>, JoinHandle<Reply>) {
    let bucket = TokenBucket::new(Quota::per_second(1)).capacity(3);
    let limit =
        |store| RateLimitLayer::new(Tier::new("api", bucket, Global).cost(requested_cost), store).wait(max_wait);
    let held = QueuedServer::<St>::with_layer(|app, store| app.layer(limit(store))).await;
    assert_eq!(held.get_with(0, ("x-cost", "3")).await.status, 200);
    let costly = held.wait_for(held.get_with(1, ("x-cost", "3"))).await;
    held.clock.advance(2 * SECOND);
    assert_eq!(held.left("api", bucket).await, 2);
    (held, costly)
}

async fn cheap_requests_overtake_a_costly_one_only_if_it_can_wait<St: TestStore>() {
    let (held, costly) = costly_and_two_units::<St>(60 * SECOND).await;
    assert_eq!(held.get(2).await.status, 200);
    assert_eq!(held.get(3).await.status, 200);
    held.clock.advance(SECOND);
    held.until_waiting(1).await;
    held.clock.advance(2 * SECOND);
    assert_eq!(costly.await.unwrap().status, 200);
    assert_eq!(held.served(), seconds([(0, 0), (2, 2), (3, 2), (1, 5)]));

    let (held, costly) = costly_and_two_units::<St>(3 * SECOND).await;
    let cheap = [held.wait(2).await, held.wait(3).await];
    assert_eq!(held.served(), seconds([(0, 0)]));
    held.clock.advance(SECOND);
    assert_eq!(costly.await.unwrap().status, 200);
    for (cheap, left) in cheap.into_iter().zip([2, 1]) {
        held.until_waiting(left).await;
        held.clock.advance(SECOND);
        assert_eq!(cheap.await.unwrap().status, 200);
    }
    assert_eq!(held.served(), seconds([(0, 0), (1, 3), (2, 4), (3, 5)]));
}

async fn a_full_wait_queue_denies_at_once_and_charges_nothing<St: TestStore>() {
    let held = wait_queue::<St>(3).await;
    assert_eq!(held.get(0).await.status, 200);
    let [head, second, third] = waiting(&held, [1, 2, 3]).await;
    assert_eq!(held.get(4).await.all(), (429, "10".into(), limits(626, 10)));
    held.clock.advance(3 * SECOND + MICRO);
    assert_eq!(held.get(5).await.all(), (429, "7".into(), limits(626, 7)));
    assert_eq!(
        (held.left("count", count()).await, held.clock.pending_sleeps()),
        (99, 3)
    );
    held.clock.advance(7 * SECOND - MICRO);
    assert_eq!(head.await.unwrap().status, 200);
    // One place is free again.
    let sixth = tokio::spawn(held.get(6));
    held.until_waiting(3).await;
    assert_eq!(held.get(7).await.status, 429);
    pass(&held, [second, third, sixth]).await;
    assert_eq!(held.served(), seconds([(0, 0), (1, 10), (2, 20), (3, 30), (6, 40)]));
    assert_eq!(held.left("count", count()).await, 95);
}

async fn a_denial_does_not_report_the_quota_of_another_key<St: TestStore>() {
    let user = FixedWindow::new(Quota::per_day(5));
    let limit = |store| {
        RateLimitLayer::new(Tier::new("user", user, Header::new("x-user-id")), store)
            .tier(Tier::new("all", one_per_10s(), Global))
            // The two settings can be in either order.
            .max_waiters(1)
            .wait(60 * SECOND)
    };
    let held = QueuedServer::<St>::with_layer(|app, store| app.layer(limit(store))).await;
    let as_user = |request, user| held.get_with(request, ("x-user-id", user));
    assert_eq!(as_user(0, "alice").await.status, 200);
    let alice = held.wait_for(as_user(1, "alice")).await;
    let limits = r#"1 0 626 | "user";q=5;w=86400, "all";q=1;w=10 | "all";r=0;t=10"#;
    for user in ["bob", "carol", "alice"] {
        assert_eq!(as_user(2, user).await.all(), (429, "10".into(), limits.into()));
    }
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

/// Disconnects a client, and waits until the server notices.
async fn disconnect<St: TestStore>(held: &QueuedServer<St>, client: JoinHandle<Reply>) {
    let waiting = held.clock.pending_sleeps();
    client.abort();
    held.until_waiting(waiting - 1).await;
}

async fn a_disconnect_at_the_head_moves_the_queue_up<St: TestStore>() {
    let held = wait_queue::<St>(100).await;
    assert_eq!(held.get(0).await.status, 200);
    let [head, second, third] = waiting(&held, [1, 2, 3]).await;
    disconnect(&held, head).await;
    // The disconnected client's wait delays no other request.
    pass(&held, [second, third]).await;
    assert_eq!(held.served(), seconds([(0, 0), (2, 10), (3, 20)]));
    assert_eq!(held.left("count", count()).await, 97);
}

async fn a_disconnect_in_the_middle_moves_the_queue_up<St: TestStore>() {
    let held = wait_queue::<St>(3).await;
    assert_eq!(held.get(0).await.status, 200);
    let [head, second, third] = waiting(&held, [1, 2, 3]).await;
    assert_eq!(held.get(9).await.status, 429);
    disconnect(&held, second).await;
    // Its place is free.
    let fourth = held.wait(4).await;
    assert_eq!(held.get(9).await.status, 429);
    pass(&held, [head, third, fourth]).await;
    assert_eq!(held.served(), seconds([(0, 0), (1, 10), (3, 20), (4, 30)]));
    assert_eq!(held.left("count", count()).await, 96);
}

async fn a_queue_is_empty_after_every_client_disconnected<St: TestStore>() {
    let held = wait_queue::<St>(100).await;
    assert_eq!(held.get(0).await.status, 200);
    let [head, second, third] = waiting(&held, [1, 2, 3]).await;
    for client in [second, third, head] {
        disconnect(&held, client).await;
    }
    assert_eq!(held.left("count", count()).await, 99);
    held.clock.advance(10 * SECOND);
    assert_eq!(held.get(4).await.status, 200);
    assert_eq!(held.served(), seconds([(0, 0), (4, 10)]));
}

#[tokio::test]
async fn only_the_head_of_the_queue_calls_redis() {
    const CLIENTS: u32 = 20;
    let (redis, clock) = (RedisServer::start(), ManualClock::at(NOW));
    let store = redis.store().clock(clock.clone()).build().unwrap();
    let limit = |store| RateLimitLayer::new(Tier::new("api", one_per_10s(), Global), store).wait(600 * SECOND);
    let held = QueuedServer::<RedisStore>::with_store(store, clock, |app, store| app.layer(limit(store))).await;
    let (mut stats, mut called) = (redis.client(), 0);
    let mut has_called = async |times| {
        called += times;
        yield_until(async || calls(&mut stats, "evalsha") >= called).await;
        assert_eq!(calls(&mut stats, "evalsha"), called);
    };
    assert_eq!(held.get(0).await.status, 200);
    // The first EVALSHA fails, because Redis does not have the script yet.
    has_called(2).await;
    let mut wait_queue = Vec::new();
    for client in 1..=CLIENTS {
        wait_queue.push(held.wait(client).await);
    }
    has_called(1).await;
    for (client, waiting) in (1..).zip(wait_queue) {
        held.clock.advance(10 * SECOND);
        assert_eq!(waiting.await.unwrap().status, 200);
        // The head calls Redis once and is admitted. The next request calls it once to learn how long to wait.
        has_called(if client < CLIENTS { 2 } else { 1 }).await;
        held.until_waiting((CLIENTS - client) as usize).await;
    }
    let served: Vec<_> = (0..=CLIENTS)
        .map(|client| (client, u64::from(client) * 10_000_000))
        .collect();
    assert_eq!(held.served(), served);
}
