//! Requests that wait in place of being refused.

use std::time::Duration;

use tollgate::{
    Charge, FixedWindow, Global, Header, Key, LeakyBucket, Limit, Micros, Operation, Quota, RateLimitLayer, Rule,
};

use support::{
    held::{Held, MICRO, SECOND, one},
    rules::each_algorithm,
};

use crate::over_http::{
    fixture::{TestStore, on_both_stores},
    handlers::asked,
};

on_both_stores![
    it_is_held_until_it_is_admitted_and_no_longer,
    who_would_wait_too_long_is_refused_at_once,
    who_is_made_to_wait_too_long_is_refused_then_and_takes_nothing,
    different_keys_do_not_wait_for_each_other,
    what_it_waits_for_may_change_meanwhile,
    what_can_never_pass_is_refused_at_once,
    what_costs_nothing_does_not_wait,
    a_queue_holds_what_it_admits_after_the_wait,
    what_is_watched_only_is_not_waited_for,
];

/// Each algorithm, and how long the second request has to wait when there is one a minute.
fn waits() -> [(Rule, Micros); 7] {
    let [token, queue, police, aligned, anchored, log, counter] = each_algorithm(Quota::per_minute(1));
    [
        (token, 60_000_000),
        (queue, 60_000_000),
        (police, 60_000_000),
        (aligned, 44_750_000),
        (anchored, 60_000_000),
        (log, 60_000_000),
        // A sixth of a minute began at 610 s. It counts in full until 670 s, and rounded down just after that.
        (counter, 54_750_001),
    ]
}

async fn it_is_held_until_it_is_admitted_and_no_longer<St: TestStore>() {
    for (rule, wait) in waits() {
        // It is exactly long enough.
        let max = Duration::from_micros(wait);
        let limit = |store| RateLimitLayer::new("api", rule, Global, store).wait(max);
        let held = Held::<St>::behind(|app, store| app.layer(limit(store))).await;
        assert_eq!(held.get(0).await.status, 200, "{rule:?}");
        let waiting = held.wait(1).await;
        held.clock.advance(max - MICRO);
        assert_eq!((held.served(), held.clock.waiting()), (vec![(0, 0)], 1), "{rule:?}");
        held.clock.advance(MICRO);
        let reply = waiting.await.unwrap();
        assert_eq!((reply.status, reply.remaining().as_str()), (200, "0"), "{rule:?}");
        assert_eq!(reply.header("retry-after"), "-", "{rule:?}");
        assert_eq!(
            (held.served(), held.clock.waiting()),
            (vec![(0, 0), (1, wait)], 0),
            "{rule:?}"
        );
    }
}

async fn who_would_wait_too_long_is_refused_at_once<St: TestStore>() {
    for (rule, wait) in waits() {
        let max = Duration::from_micros(wait - 1);
        let limit = |store| RateLimitLayer::new("api", rule, Global, store).wait(max);
        let held = Held::<St>::behind(|app, store| app.layer(limit(store))).await;
        assert_eq!(held.get(0).await.status, 200, "{rule:?}");
        let refused = held.get(1).await;
        let after = wait.div_ceil(1_000_000).to_string();
        assert_eq!(
            (refused.status, refused.header("retry-after")),
            (429, after),
            "{rule:?}"
        );
        assert_eq!((held.served(), held.clock.waiting()), (vec![(0, 0)], 0), "{rule:?}");
        // A microsecond later it is worth waiting for.
        held.clock.advance(MICRO);
        let waiting = held.wait(2).await;
        held.clock.advance(max);
        assert_eq!(waiting.await.unwrap().status, 200, "{rule:?}");
        assert_eq!(held.served(), [(0, 0), (2, wait)], "{rule:?}");
    }
}

async fn who_is_made_to_wait_too_long_is_refused_then_and_takes_nothing<St: TestStore>() {
    let limit = |store| RateLimitLayer::new("api", one(), Global, store).wait(15 * SECOND);
    let held = Held::<St>::behind(|app, store| app.layer(limit(store))).await;
    let charge = Charge::new(Limit::new("api", one()), Key::GLOBAL);
    let first = held.store.apply(Operation::Acquire(charge.into())).await;
    let receipt = first.ok().unwrap().take_receipt().unwrap();
    let waiting = held.wait(1).await;
    // What was charged first turns out to have cost twice as much, so there is nothing after ten seconds.
    let settled = held.store.apply(Operation::Settle(receipt.settled(2))).await;
    assert!(settled.is_ok());
    held.clock.advance(10 * SECOND - MICRO);
    assert_eq!(held.clock.waiting(), 1);
    held.clock.advance(MICRO);
    let limits = r#"1 0 636 | "api";q=1;w=10 | "api";r=0;t=10"#;
    assert_eq!(waiting.await.unwrap().all(), (429, "10".into(), limits.into()));
    held.clock.advance(10 * SECOND);
    assert_eq!((held.left("api", one()).await, held.served()), (1, vec![]));
}

async fn different_keys_do_not_wait_for_each_other<St: TestStore>() {
    let limit = |store| RateLimitLayer::new("api", one(), Header::new("x-user-id"), store).wait(60 * SECOND);
    let held = Held::<St>::behind(|app, store| app.layer(limit(store))).await;
    let as_user = |request, user| held.get_with(request, ("x-user-id", user));
    assert_eq!(as_user(0, "alice").await.status, 200);
    let alice = held.wait_for(as_user(1, "alice")).await;
    held.clock.advance(5 * SECOND);
    assert_eq!(as_user(2, "bob").await.status, 200);
    let bob = held.wait_for(as_user(3, "bob")).await;
    held.clock.advance(5 * SECOND);
    assert_eq!(alice.await.unwrap().status, 200);
    assert_eq!((as_user(4, "carol").await.status, held.clock.waiting()), (200, 1));
    held.clock.advance(5 * SECOND);
    assert_eq!(bob.await.unwrap().status, 200);
    let seconds = [(0, 0), (2, 5), (1, 10), (4, 10), (3, 15)];
    assert_eq!(held.served(), seconds.map(|(request, at)| (request, at * 1_000_000)));
}

async fn what_it_waits_for_may_change_meanwhile<St: TestStore>() {
    let two = FixedWindow::new(Quota::per_minute(2));
    let limit = |store| {
        RateLimitLayer::new("bucket", one(), Global, store)
            .tier("minute", two, Global)
            .wait(60 * SECOND)
    };
    let held = Held::<St>::behind(|app, store| app.layer(limit(store))).await;
    assert_eq!(held.get(0).await.status, 200);
    let waiting = held.wait(1).await;
    // Somebody else takes what is left of the minute.
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
    // Now it waits for the minute to end, though the bucket would let it pass.
    held.settled(1).await;
    let behind = held.wait(2).await;
    assert_eq!(held.left("bucket", one()).await, 1);
    held.clock.set(660_000_000 - 1);
    assert_eq!((held.served(), held.clock.waiting()), (vec![(0, 0)], 2));
    held.clock.set(660_000_000);
    assert_eq!(waiting.await.unwrap().status, 200);
    // The next one waits for the first tier again.
    held.settled(1).await;
    held.clock.advance(10 * SECOND);
    assert_eq!(behind.await.unwrap().status, 200);
    assert_eq!(held.served(), [(0, 0), (1, 44_750_000), (2, 54_750_000)]);
}

/// One every ten seconds, and requests say what they cost.
async fn by_cost<St: TestStore>() -> Held<St> {
    Held::behind(|app, store| {
        let layer = RateLimitLayer::new("api", one(), Global, store).cost(asked);
        app.layer(layer.wait(60 * SECOND))
    })
    .await
}

async fn what_can_never_pass_is_refused_at_once<St: TestStore>() {
    let held = by_cost::<St>().await;
    for (left, reset, more_in) in [(1, 616, 0), (0, 626, 10)] {
        let reply = held.get_with(9, ("x-cost", "2")).await;
        let limits = format!(r#"1 {left} {reset} | "api";q=1;w=10 | "api";r={left};t={more_in}"#);
        assert_eq!(reply.all(), (429, "-".into(), limits));
        assert_eq!(held.get_with(0, ("x-cost", &left.to_string())).await.status, 200);
    }
    // Nor does it stand in line behind those who wait.
    let waiting = held.wait(1).await;
    assert_eq!(held.get_with(9, ("x-cost", "2")).await.header("retry-after"), "-");
    held.clock.advance(10 * SECOND);
    assert_eq!(waiting.await.unwrap().status, 200);
    assert_eq!(held.served(), [(0, 0), (0, 0), (1, 10_000_000)]);
}

async fn what_costs_nothing_does_not_wait<St: TestStore>() {
    let held = by_cost::<St>().await;
    assert_eq!(held.get(0).await.status, 200);
    let waiting = held.wait(1).await;
    let reply = held.get_with(2, ("x-cost", "0")).await;
    assert_eq!((reply.status, reply.remaining().as_str()), (200, "0"));
    held.clock.advance(10 * SECOND);
    assert_eq!(waiting.await.unwrap().status, 200);
    assert_eq!(held.served(), [(0, 0), (2, 0), (1, 10_000_000)]);
}

async fn a_queue_holds_what_it_admits_after_the_wait<St: TestStore>() {
    let two = LeakyBucket::new(Quota::per_second(1)).capacity(2);
    let limit = |store| RateLimitLayer::new("queue", two, Global, store).wait(5 * SECOND);
    let held = Held::<St>::behind(|app, store| app.layer(limit(store))).await;
    assert_eq!(held.get(0).await.status, 200);
    // One is held by the queue, which is full then. The others wait until it has room.
    let mut waiting = Vec::new();
    for request in 1..5 {
        waiting.push(held.wait(request).await);
    }
    let mut served = vec![(0, 0)];
    for (request, waiting) in (1..5).zip(waiting) {
        held.settled(5 - request as usize).await;
        held.clock.advance(SECOND - MICRO);
        assert_eq!(held.served(), served);
        held.clock.advance(MICRO);
        assert_eq!(waiting.await.unwrap().status, 200);
        served.push((request, u64::from(request) * 1_000_000));
        assert_eq!(held.served(), served);
    }
}

async fn what_is_watched_only_is_not_waited_for<St: TestStore>() {
    let limit = |store| {
        RateLimitLayer::new("bucket", one(), Global, store)
            .tier("watched", FixedWindow::new(Quota::per_day(1)), Global)
            .shadow()
            .wait(60 * SECOND)
    };
    let held = Held::<St>::behind(|app, store| app.layer(limit(store))).await;
    assert_eq!(held.get(0).await.status, 200);
    let waiting = held.wait(1).await;
    held.clock.advance(10 * SECOND);
    assert_eq!(waiting.await.unwrap().status, 200);
    assert_eq!(held.served(), [(0, 0), (1, 10_000_000)]);
}
