//! A leaky bucket that queues: requests leave evenly.

use tokio::task::JoinSet;
use tollgate::{FixedWindow, Global, Key, LeakyBucket, Limit, Quota, RateLimitLayer};

use support::held::{Held, MICRO, SECOND};

use crate::over_http::fixture::{NOW, TestStore, on_both_stores, yielding};

on_both_stores![
    five_at_once_leave_a_second_apart,
    of_twenty_at_once_ten_are_held_and_ten_refused,
    a_full_queue_tells_when_there_is_room,
    a_request_that_would_wait_too_long_is_refused,
];

pub(crate) fn one_a_second() -> LeakyBucket {
    LeakyBucket::new(Quota::per_second(1)).capacity(10)
}

fn hundred_a_day() -> FixedWindow {
    FixedWindow::new(Quota::per_day(100))
}

/// A queue, beside a tier that counts a hundred a day.
pub(crate) async fn queue<St: TestStore>(queue: LeakyBucket) -> Held<St> {
    Held::behind(|app, store| {
        let layer = RateLimitLayer::new("queue", queue, Global, store);
        app.layer(layer.tier("count", hundred_a_day(), Global).unlisted())
    })
    .await
}

/// What is left of a queue of one a second, and of the count.
pub(crate) async fn left<St: TestStore>(store: &St) -> (u64, u64) {
    let left = async |limit| store.left(&limit, &Key::GLOBAL).await;
    (
        left(Limit::new("queue", one_a_second())).await,
        left(Limit::new("count", hundred_a_day())).await,
    )
}

pub(crate) fn limits(left: u32, reset: u32, more_in: u32) -> String {
    format!(r#"10 {left} {reset} | "queue";q=10;w=10 | "queue";r={left};t={more_in}"#)
}

async fn five_at_once_leave_a_second_apart<St: TestStore>() {
    let queue = queue::<St>(one_a_second()).await;
    // The headers tell how things stood when it was decided.
    assert_eq!(queue.get(0).await.all(), (200, "-".into(), limits(9, 617, 1)));
    let mut held = Vec::new();
    for request in 1..5 {
        held.push(queue.wait(request).await);
    }
    let mut served = vec![(0, 0)];
    for (request, held) in (1..5).zip(held) {
        queue.clock.advance(SECOND - MICRO);
        assert_eq!(
            (queue.served(), queue.clock.waiting()),
            (served.clone(), 5 - request as usize)
        );
        queue.clock.advance(MICRO);
        assert_eq!(queue.clock.waiting(), 4 - request as usize);
        let reply = held.await.unwrap();
        assert_eq!(
            reply.all(),
            (200, "-".into(), limits(9 - request, 617 + request, 1 + request))
        );
        served.push((request, u64::from(request) * 1_000_000));
        assert_eq!(queue.served(), served);
    }
}

async fn of_twenty_at_once_ten_are_held_and_ten_refused<St: TestStore>() {
    let queue = queue::<St>(one_a_second()).await;
    let mut requests: JoinSet<_> = (0..20).map(|request| queue.get(request)).collect();
    let mut statuses = Vec::new();
    for _ in 0..11 {
        let reply = requests.join_next().await.unwrap().unwrap();
        match reply.status {
            200 => assert_eq!(reply.limits(), limits(9, 617, 1)),
            _ => assert_eq!(reply.all(), (429, "1".into(), limits(0, 617, 1))),
        }
        statuses.push(reply.status);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [[200].as_slice(), &[429; 10]].concat());
    yielding(async || queue.clock.waiting() == 9).await;
    for second in 1..10 {
        queue.clock.advance(SECOND);
        let reply = requests.join_next().await.unwrap().unwrap();
        assert_eq!(
            (reply.status, reply.limits()),
            (200, limits(9 - second, 617 + second, 1 + second))
        );
        assert_eq!(
            (queue.clock.waiting(), requests.len()),
            (9 - second as usize, 9 - second as usize)
        );
    }
    let times: Vec<_> = queue.served().iter().map(|(_, at)| at / 1_000_000).collect();
    assert_eq!(times, Vec::from_iter(0..10));
}

async fn a_full_queue_tells_when_there_is_room<St: TestStore>() {
    // One leaves every 60/7 = 8.571428.. seconds.
    let queue = queue::<St>(LeakyBucket::new(Quota::per_minute(7)).capacity(3)).await;
    let limits = |left: u32, reset: u32, more_in: u32| {
        format!(r#"3 {left} {reset} | "queue";q=3;w=26 | "queue";r={left};t={more_in}"#)
    };
    assert_eq!(queue.get(0).await.limits(), limits(2, 624, 9));
    let held = [queue.wait(1).await, queue.wait(2).await];
    assert_eq!(queue.get(3).await.all(), (429, "9".into(), limits(0, 624, 9)));
    queue.clock.set(NOW + 8_571_428);
    assert_eq!(queue.get(4).await.all(), (429, "1".into(), limits(0, 624, 1)));
    assert_eq!((queue.served(), queue.clock.waiting()), (vec![(0, 0)], 2));
    queue.clock.set(NOW + 8_571_429);
    let [first, second] = held;
    assert_eq!(first.await.unwrap().limits(), limits(1, 633, 18));
    let third = queue.wait(5).await;
    queue.clock.set(NOW + 17_142_858);
    assert_eq!(second.await.unwrap().limits(), limits(0, 641, 26));
    queue.clock.set(NOW + 25_714_285);
    assert_eq!(queue.clock.waiting(), 1);
    queue.clock.set(NOW + 25_714_286);
    assert_eq!(third.await.unwrap().limits(), limits(0, 650, 26));
    let served = [(0, 0), (1, 8_571_429), (2, 17_142_858), (5, 25_714_286)];
    assert_eq!(queue.served(), served);
}

async fn a_request_that_would_wait_too_long_is_refused<St: TestStore>() {
    let queue = queue::<St>(one_a_second().max_wait(2 * SECOND)).await;
    assert_eq!(queue.get(0).await.status, 200);
    let _held = [queue.wait(1).await, queue.wait(2).await];
    // There is room for seven more, but it would be three seconds until the next one leaves.
    assert_eq!(queue.get(3).await.all(), (429, "1".into(), limits(7, 617, 1)));
    queue.clock.advance(SECOND - MICRO);
    assert_eq!(queue.get(4).await.all(), (429, "1".into(), limits(7, 617, 1)));
    queue.clock.advance(MICRO);
    yielding(async || queue.served() == [(0, 0), (1, 1_000_000)]).await;
    queue.wait(5).await.abort();
}
