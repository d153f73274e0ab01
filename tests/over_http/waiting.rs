//! Requests that wait instead of being denied.

use std::time::Duration;

use tollgate::{
    AnyAlgorithm, Charge, FixedWindow, Global, Header, Key, LeakyBucket, Limit, Micros, Operation, Quota,
    RateLimitLayer, Tier,
};

use support::{
    algorithms::each_algorithm,
    queued_server::{MICRO, QueuedServer, SECOND, one_per_10s},
};

use crate::over_http::fixture::{TestStore, on_both_stores, requested_cost};

on_both_stores![
    a_request_waits_exactly_until_it_is_admitted,
    a_request_that_would_exceed_the_maximum_is_denied_at_once,
    a_wait_that_grows_beyond_the_maximum_is_denied_and_not_charged,
    different_keys_do_not_wait_for_each_other,
    the_denying_tier_can_change_during_the_wait,
    an_impossible_request_is_denied_at_once,
    a_cost_of_zero_does_not_wait,
    a_queue_delays_requests_after_their_wait,
    a_shadow_does_not_make_requests_wait,
];

/// Each algorithm, and how long the second request waits under a limit of one per minute.
fn waits() -> [(AnyAlgorithm, Micros); 7] {
    let [token, queue, police, aligned, anchored, log, counter] = each_algorithm(Quota::per_minute(1));
    [
        (token, 60_000_000),
        (queue, 60_000_000),
        (police, 60_000_000),
        (aligned, 44_750_000),
        (anchored, 60_000_000),
        (log, 60_000_000),
        // The sub-window from 610 s counts in full until 670 s, and is rounded down just after that.
        (counter, 54_750_001),
    ]
}

async fn a_request_waits_exactly_until_it_is_admitted<St: TestStore>() {
    for (algorithm, wait) in waits() {
        // The maximum is exactly long enough.
        let max = Duration::from_micros(wait);
        let limit = |store| RateLimitLayer::new(Tier::new("api", algorithm, Global), store).wait(max);
        let held = QueuedServer::<St>::with_layer(|app, store| app.layer(limit(store))).await;
        assert_eq!(held.get(0).await.status, 200, "{algorithm:?}");
        let waiting = held.wait(1).await;
        held.clock.advance(max - MICRO);
        assert_eq!(
            (held.served(), held.clock.pending_sleeps()),
            (vec![(0, 0)], 1),
            "{algorithm:?}"
        );
        held.clock.advance(MICRO);
        let reply = waiting.await.unwrap();
        assert_eq!((reply.status, reply.remaining().as_str()), (200, "0"), "{algorithm:?}");
        assert_eq!(reply.header("retry-after"), "-", "{algorithm:?}");
        assert_eq!(
            (held.served(), held.clock.pending_sleeps()),
            (vec![(0, 0), (1, wait)], 0),
            "{algorithm:?}"
        );
    }
}

async fn a_request_that_would_exceed_the_maximum_is_denied_at_once<St: TestStore>() {
    for (algorithm, wait) in waits() {
        let max = Duration::from_micros(wait - 1);
        let limit = |store| RateLimitLayer::new(Tier::new("api", algorithm, Global), store).wait(max);
        let held = QueuedServer::<St>::with_layer(|app, store| app.layer(limit(store))).await;
        assert_eq!(held.get(0).await.status, 200, "{algorithm:?}");
        let denied = held.get(1).await;
        let after = wait.div_ceil(1_000_000).to_string();
        assert_eq!(
            (denied.status, denied.header("retry-after")),
            (429, after),
            "{algorithm:?}"
        );
        assert_eq!(
            (held.served(), held.clock.pending_sleeps()),
            (vec![(0, 0)], 0),
            "{algorithm:?}"
        );
        // A microsecond later, the wait is within the maximum.
        held.clock.advance(MICRO);
        let waiting = held.wait(2).await;
        held.clock.advance(max);
        assert_eq!(waiting.await.unwrap().status, 200, "{algorithm:?}");
        assert_eq!(held.served(), [(0, 0), (2, wait)], "{algorithm:?}");
    }
}

async fn a_wait_that_grows_beyond_the_maximum_is_denied_and_not_charged<St: TestStore>() {
    let limit = |store| RateLimitLayer::new(Tier::new("api", one_per_10s(), Global), store).wait(15 * SECOND);
    let held = QueuedServer::<St>::with_layer(|app, store| app.layer(limit(store))).await;
    let charge = Charge::new(Limit::new("api", one_per_10s()), Key::GLOBAL);
    let first = held.store.apply(Operation::Acquire(charge.into())).await;
    let receipt = first.ok().unwrap().take_receipt().unwrap();
    let waiting = held.wait(1).await;
    // The first charge settles at twice its cost, so nothing is available after ten seconds.
    let settled = held.store.apply(Operation::Settle(receipt.settled(2))).await;
    assert!(settled.is_ok());
    held.clock.advance(10 * SECOND - MICRO);
    assert_eq!(held.clock.pending_sleeps(), 1);
    held.clock.advance(MICRO);
    let limits = r#"1 0 636 | "api";q=1;w=10 | "api";r=0;t=10"#;
    assert_eq!(waiting.await.unwrap().all(), (429, "10".into(), limits.into()));
    held.clock.advance(10 * SECOND);
    assert_eq!((held.left("api", one_per_10s()).await, held.served()), (1, vec![]));
}

async fn different_keys_do_not_wait_for_each_other<St: TestStore>() {
    let limit =
        |store| RateLimitLayer::new(Tier::new("api", one_per_10s(), Header::new("x-user-id")), store).wait(60 * SECOND);
    let held = QueuedServer::<St>::with_layer(|app, store| app.layer(limit(store))).await;
    let as_user = |request, user| held.get_with(request, ("x-user-id", user));
    assert_eq!(as_user(0, "alice").await.status, 200);
    let alice = held.wait_for(as_user(1, "alice")).await;
    held.clock.advance(5 * SECOND);
    assert_eq!(as_user(2, "bob").await.status, 200);
    let bob = held.wait_for(as_user(3, "bob")).await;
    held.clock.advance(5 * SECOND);
    assert_eq!(alice.await.unwrap().status, 200);
    assert_eq!(
        (as_user(4, "carol").await.status, held.clock.pending_sleeps()),
        (200, 1)
    );
    held.clock.advance(5 * SECOND);
    assert_eq!(bob.await.unwrap().status, 200);
    let seconds = [(0, 0), (2, 5), (1, 10), (4, 10), (3, 15)];
    assert_eq!(held.served(), seconds.map(|(request, at)| (request, at * 1_000_000)));
}

async fn the_denying_tier_can_change_during_the_wait<St: TestStore>() {
    let two = FixedWindow::new(Quota::per_minute(2));
    let limit = |store| {
        RateLimitLayer::new(Tier::new("bucket", one_per_10s(), Global), store)
            .tier(Tier::new("minute", two, Global))
            .wait(60 * SECOND)
    };
    let held = QueuedServer::<St>::with_layer(|app, store| app.layer(limit(store))).await;
    assert_eq!(held.get(0).await.status, 200);
    let waiting = held.wait(1).await;
    // Another charge takes what remains of the minute.
    let charge = Charge::new(Limit::new("minute", two), Key::GLOBAL);
    assert!(
        held.store
            .apply(Operation::Acquire(charge.into()))
            .await
            .ok()
            .unwrap()
            .admits()
    );
    held.clock.advance(10 * SECOND);
    // The request now waits for the minute to end, though the bucket would admit it.
    held.until_waiting(1).await;
    let behind = held.wait(2).await;
    assert_eq!(held.left("bucket", one_per_10s()).await, 1);
    held.clock.set(660_000_000 - 1);
    assert_eq!((held.served(), held.clock.pending_sleeps()), (vec![(0, 0)], 2));
    held.clock.set(660_000_000);
    assert_eq!(waiting.await.unwrap().status, 200);
    // The next request waits for the first tier again.
    held.until_waiting(1).await;
    held.clock.advance(10 * SECOND);
    assert_eq!(behind.await.unwrap().status, 200);
    assert_eq!(held.served(), [(0, 0), (1, 44_750_000), (2, 54_750_000)]);
}

/// One request per ten seconds, with the cost that the request asks for.
async fn by_cost<St: TestStore>() -> QueuedServer<St> {
    QueuedServer::with_layer(|app, store| {
        let layer = RateLimitLayer::new(Tier::new("api", one_per_10s(), Global).cost(requested_cost), store);
        app.layer(layer.wait(60 * SECOND))
    })
    .await
}

async fn an_impossible_request_is_denied_at_once<St: TestStore>() {
    let held = by_cost::<St>().await;
    for (left, reset, more_in) in [(1, 616, 10), (0, 626, 10)] {
        let reply = held.get_with(9, ("x-cost", "2")).await;
        let limits = format!(r#"1 {left} {reset} | "api";q=1;w=10 | "api";r={left};t={more_in}"#);
        assert_eq!(reply.all(), (429, "-".into(), limits));
        assert_eq!(held.get_with(0, ("x-cost", &left.to_string())).await.status, 200);
    }
    // Nor does it enter the wait queue.
    let waiting = held.wait(1).await;
    assert_eq!(held.get_with(9, ("x-cost", "2")).await.header("retry-after"), "-");
    held.clock.advance(10 * SECOND);
    assert_eq!(waiting.await.unwrap().status, 200);
    assert_eq!(held.served(), [(0, 0), (0, 0), (1, 10_000_000)]);
}

async fn a_cost_of_zero_does_not_wait<St: TestStore>() {
    let held = by_cost::<St>().await;
    assert_eq!(held.get(0).await.status, 200);
    let waiting = held.wait(1).await;
    let reply = held.get_with(2, ("x-cost", "0")).await;
    assert_eq!((reply.status, reply.remaining().as_str()), (200, "0"));
    held.clock.advance(10 * SECOND);
    assert_eq!(waiting.await.unwrap().status, 200);
    assert_eq!(held.served(), [(0, 0), (2, 0), (1, 10_000_000)]);
}

async fn a_queue_delays_requests_after_their_wait<St: TestStore>() {
    let two = LeakyBucket::new(Quota::per_second(1)).capacity(2);
    let limit = |store| RateLimitLayer::new(Tier::new("queue", two, Global), store).wait(5 * SECOND);
    let held = QueuedServer::<St>::with_layer(|app, store| app.layer(limit(store))).await;
    assert_eq!(held.get(0).await.status, 200);
    // The leaky bucket delays one request, and is full then. The others wait for a free place.
    let mut waiting = Vec::new();
    for request in 1..5 {
        waiting.push(held.wait(request).await);
    }
    let mut served = vec![(0, 0)];
    for (request, waiting) in (1..5).zip(waiting) {
        held.until_waiting(5 - request as usize).await;
        held.clock.advance(SECOND - MICRO);
        assert_eq!(held.served(), served);
        held.clock.advance(MICRO);
        assert_eq!(waiting.await.unwrap().status, 200);
        served.push((request, u64::from(request) * 1_000_000));
        assert_eq!(held.served(), served);
    }
}

async fn a_shadow_does_not_make_requests_wait<St: TestStore>() {
    let limit = |store| {
        RateLimitLayer::new(Tier::new("bucket", one_per_10s(), Global), store)
            .tier(Tier::fixed_window("watched", Quota::per_day(1), Global).shadow())
            .wait(60 * SECOND)
    };
    let held = QueuedServer::<St>::with_layer(|app, store| app.layer(limit(store))).await;
    assert_eq!(held.get(0).await.status, 200);
    let waiting = held.wait(1).await;
    held.clock.advance(10 * SECOND);
    assert_eq!(waiting.await.unwrap().status, 200);
    assert_eq!(held.served(), [(0, 0), (1, 10_000_000)]);
}
