//! Calls that overtake a costly call in its wait queue.

use std::time::Duration;

use tollgate::{CallKey, Limiter, Quota, Tier, TokenBucket};

use support::{
    each_store::{TestStore, on_both_stores},
    queued_server::until_waiting,
};

use crate::limiter::{
    MICRO, SECOND, alice, expect_decision,
    waiting::{FOREVER, Wait, Waits, ended, passed},
};

on_both_stores![
    cheap_calls_are_admitted_until_the_head_would_miss_its_deadline,
    cheap_calls_are_admitted_as_the_limit_refills,
    a_head_without_time_to_wait_is_not_overtaken,
    only_the_call_behind_the_head_overtakes_it,
    a_denied_call_reports_its_own_retry_after,
    a_call_that_the_order_of_arrival_denies_reports_the_heads_retry_after,
];

/// A unit per second and a capacity of 100, of which 90 are available, and a call that waits for all of them.
async fn costly_head<St: TestStore>(max: Duration) -> (Waits<St>, Wait) {
    let bucket = TokenBucket::new(Quota::per_second(1)).capacity(100);
    let waits = Waits::<St>::new(|store| Limiter::new(Tier::new("api", bucket, CallKey), store));
    assert!(expect_decision(waits.limiter.check_n(&alice(), 10).await).admits());
    let head = waits.wait(100, max).await;
    (waits, head)
}

async fn cheap_calls_are_admitted_until_the_head_would_miss_its_deadline<St: TestStore>() {
    let (waits, head) = costly_head::<St>(60 * SECOND).await;
    // Each delays the head by a second, from 10 to 60 seconds.
    for call in 0..50 {
        assert_eq!(passed(waits.start(1, 30 * SECOND)).await, (true, 0), "{call}");
    }
    // The next one is behind the head, and the others could be admitted only after one of the two has left.
    let behind = waits.wait(1, 30 * SECOND).await;
    for call in 51..150 {
        let (decision, at) = ended(waits.start(1, 30 * SECOND - MICRO)).await;
        assert_eq!((decision.retry_after(), at), (Some(60 * SECOND), 0), "{call}");
    }
    assert_eq!(waits.left().await, [40]);
    waits.clock.advance(30 * SECOND);
    let (decision, at) = ended(behind).await;
    assert_eq!((decision.retry_after(), at), (Some(30 * SECOND), 30_000_000));
    until_waiting(&waits.clock, 1).await;
    waits.clock.advance(30 * SECOND - MICRO);
    assert!(!head.is_finished());
    waits.clock.advance(MICRO);
    assert_eq!(passed(head).await, (true, 60_000_000));
    assert_eq!(waits.left().await, [0]);
}

async fn cheap_calls_are_admitted_as_the_limit_refills<St: TestStore>() {
    let (waits, head) = costly_head::<St>(150 * SECOND).await;
    for call in 0..90 {
        assert_eq!(passed(waits.start(1, SECOND)).await, (true, 0), "{call}");
    }
    // From now on one is admitted each second, in the order of arrival.
    let mut queued = Vec::new();
    for _ in 0..5 {
        queued.push(waits.wait(1, 10 * SECOND).await);
    }
    for (second, call) in (1..).zip(queued) {
        until_waiting(&waits.clock, 7 - second as usize).await;
        waits.clock.advance(SECOND - MICRO);
        assert!(!call.is_finished());
        waits.clock.advance(MICRO);
        assert_eq!(passed(call).await, (true, second * 1_000_000));
    }
    // The head has been denied at 10 s, and 95 calls of a second each have overtaken it.
    until_waiting(&waits.clock, 1).await;
    waits.clock.advance(5 * SECOND);
    until_waiting(&waits.clock, 1).await;
    waits.clock.advance(95 * SECOND - MICRO);
    assert!(!head.is_finished());
    waits.clock.advance(MICRO);
    assert_eq!(passed(head).await, (true, 105_000_000));
}

async fn a_head_without_time_to_wait_is_not_overtaken<St: TestStore>() {
    let (waits, head) = costly_head::<St>(11 * SECOND - MICRO).await;
    let behind = waits.wait(1, FOREVER).await;
    // What it acquired to try was refunded.
    assert_eq!(waits.left().await, [90]);
    waits.clock.advance(10 * SECOND);
    assert_eq!(passed(head).await, (true, 10_000_000));
    until_waiting(&waits.clock, 1).await;
    waits.clock.advance(SECOND);
    assert_eq!(passed(behind).await, (true, 11_000_000));

    let (waits, _head) = costly_head::<St>(11 * SECOND).await;
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
}

async fn only_the_call_behind_the_head_overtakes_it<St: TestStore>() {
    let (waits, _head) = costly_head::<St>(FOREVER).await;
    let second = waits.wait(95, FOREVER).await;
    let third = waits.wait(1, FOREVER).await;
    let fourth = waits.wait(1, FOREVER).await;
    assert_eq!(waits.left().await, [90]);
    waits.clock.advance(5 * SECOND);
    // The second overtakes the head, then there is nothing left for the others.
    assert_eq!(passed(second).await, (true, 5_000_000));
    until_waiting(&waits.clock, 3).await;
    assert_eq!(waits.left().await, [0]);
    let fifth = waits.wait(1, FOREVER).await;
    for (second, call) in (6..).zip([third, fourth, fifth]) {
        waits.clock.advance(SECOND);
        assert_eq!(passed(call).await, (true, second * 1_000_000));
        until_waiting(&waits.clock, 9 - second as usize).await;
    }
    // A call that leaves the queue makes way for the next.
    let second = waits.wait(95, FOREVER).await;
    waits.clock.advance(SECOND);
    let third = waits.wait(1, FOREVER).await;
    second.abort();
    assert_eq!(passed(third).await, (true, 9_000_000));
}

async fn a_denied_call_reports_its_own_retry_after<St: TestStore>() {
    let (waits, _head) = costly_head::<St>(200 * SECOND).await;
    assert_eq!(passed(waits.start(85, FOREVER)).await, (true, 0));
    // Five units are left, and the head waits for 95 seconds.
    for (cost, retry_after) in [(6, 1), (15, 10)] {
        let (decision, at) = ended(waits.start(cost, SECOND - MICRO)).await;
        assert_eq!((decision.retry_after(), at), (Some(retry_after * SECOND), 0));
    }
    // Behind another call, too.
    let _behind = waits.wait(15, FOREVER).await;
    let (decision, at) = ended(waits.start(8, SECOND)).await;
    assert_eq!((decision.retry_after(), at), (Some(3 * SECOND), 0));
    assert_eq!(waits.left().await, [5]);
}

async fn a_call_that_the_order_of_arrival_denies_reports_the_heads_retry_after<St: TestStore>() {
    let (waits, _head) = costly_head::<St>(10 * SECOND).await;
    let _behind = waits.wait(1, FOREVER).await;
    waits.clock.advance(4 * SECOND);
    let (decision, at) = ended(waits.start(1, 5 * SECOND)).await;
    assert_eq!((decision.retry_after(), at), (Some(6 * SECOND), 4_000_000));
    assert_eq!(waits.left().await, [94]);
}
