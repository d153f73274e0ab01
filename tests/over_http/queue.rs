//! A queueing leaky bucket: requests depart at a constant rate.

use tokio::task::JoinSet;
use tollgate::{FixedWindow, Global, Key, LeakyBucket, Limit, Quota, RateLimitLayer, Tier};

use support::queued_server::{MICRO, QueuedServer, SECOND};

use crate::over_http::fixture::{NOW, TestStore, on_both_stores, yield_until};

on_both_stores![
    five_concurrent_requests_depart_a_second_apart,
    of_twenty_concurrent_requests_ten_are_queued_and_ten_denied,
    a_full_queue_reports_when_a_place_is_free,
    a_request_that_would_exceed_max_wait_is_denied,
];

pub(crate) fn one_a_second() -> LeakyBucket {
    LeakyBucket::new(Quota::per_second(1)).capacity(10)
}

fn hundred_a_day() -> FixedWindow {
    FixedWindow::new(Quota::per_day(100))
}

/// A queue, beside a tier that counts a hundred requests per day.
pub(crate) async fn queue<St: TestStore>(queue: LeakyBucket) -> QueuedServer<St> {
    QueuedServer::with_layer(|app, store| {
        let layer = RateLimitLayer::new(Tier::new("queue", queue, Global), store);
        app.layer(layer.tier(Tier::new("count", hundred_a_day(), Global).hidden()))
    })
    .await
}

/// What remains of the queue and of the count.
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

async fn five_concurrent_requests_depart_a_second_apart<St: TestStore>() {
    let queue = queue::<St>(one_a_second()).await;
    // The headers describe the state at the time of the decision.
    assert_eq!(queue.get(0).await.all(), (200, "-".into(), limits(9, 617, 9)));
    let mut held = Vec::new();
    for request in 1..5 {
        held.push(queue.wait(request).await);
    }
    let mut served = vec![(0, 0)];
    for (request, held) in (1..5).zip(held) {
        queue.clock.advance(SECOND - MICRO);
        assert_eq!(
            (queue.served(), queue.clock.pending_sleeps()),
            (served.clone(), 5 - request as usize)
        );
        queue.clock.advance(MICRO);
        assert_eq!(queue.clock.pending_sleeps(), 4 - request as usize);
        let reply = held.await.unwrap();
        assert_eq!(
            reply.all(),
            (200, "-".into(), limits(9 - request, 617 + request, 9 - request))
        );
        served.push((request, u64::from(request) * 1_000_000));
        assert_eq!(queue.served(), served);
    }
}

async fn of_twenty_concurrent_requests_ten_are_queued_and_ten_denied<St: TestStore>() {
    let queue = queue::<St>(one_a_second()).await;
    let mut requests: JoinSet<_> = (0..20).map(|request| queue.get(request)).collect();
    let mut statuses = Vec::new();
    for _ in 0..11 {
        let reply = requests.join_next().await.unwrap().unwrap();
        match reply.status {
            200 => assert_eq!(reply.limits(), limits(9, 617, 9)),
            _ => assert_eq!(reply.all(), (429, "1".into(), limits(0, 617, 1))),
        }
        statuses.push(reply.status);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [[200].as_slice(), &[429; 10]].concat());
    yield_until(async || queue.clock.pending_sleeps() == 9).await;
    for second in 1..10 {
        queue.clock.advance(SECOND);
        let reply = requests.join_next().await.unwrap().unwrap();
        assert_eq!(
            (reply.status, reply.limits()),
            (200, limits(9 - second, 617 + second, (9 - second).max(1)))
        );
        assert_eq!(
            (queue.clock.pending_sleeps(), requests.len()),
            (9 - second as usize, 9 - second as usize)
        );
    }
    let times: Vec<_> = queue.served().iter().map(|(_, at)| at / 1_000_000).collect();
    assert_eq!(times, Vec::from_iter(0..10));
}

async fn a_full_queue_reports_when_a_place_is_free<St: TestStore>() {
    // One request departs every 60/7 = 8.571428.. seconds.
    let queue = queue::<St>(LeakyBucket::new(Quota::per_minute(7)).capacity(3)).await;
    let limits = |left: u32, reset: u32, more_in: u32| {
        format!(r#"3 {left} {reset} | "queue";q=3;w=26 | "queue";r={left};t={more_in}"#)
    };
    assert_eq!(queue.get(0).await.limits(), limits(2, 624, 18));
    let held = [queue.wait(1).await, queue.wait(2).await];
    assert_eq!(queue.get(3).await.all(), (429, "9".into(), limits(0, 624, 9)));
    queue.clock.set(NOW + 8_571_428);
    assert_eq!(queue.get(4).await.all(), (429, "1".into(), limits(0, 624, 1)));
    assert_eq!((queue.served(), queue.clock.pending_sleeps()), (vec![(0, 0)], 2));
    queue.clock.set(NOW + 8_571_429);
    let [first, second] = held;
    assert_eq!(first.await.unwrap().limits(), limits(1, 633, 9));
    let third = queue.wait(5).await;
    queue.clock.set(NOW + 17_142_858);
    assert_eq!(second.await.unwrap().limits(), limits(0, 641, 9));
    queue.clock.set(NOW + 25_714_285);
    assert_eq!(queue.clock.pending_sleeps(), 1);
    queue.clock.set(NOW + 25_714_286);
    assert_eq!(third.await.unwrap().limits(), limits(0, 650, 9));
    let served = [(0, 0), (1, 8_571_429), (2, 17_142_858), (5, 25_714_286)];
    assert_eq!(queue.served(), served);
}

async fn a_request_that_would_exceed_max_wait_is_denied<St: TestStore>() {
    let queue = queue::<St>(one_a_second().max_wait(2 * SECOND)).await;
    assert_eq!(queue.get(0).await.status, 200);
    let _held = [queue.wait(1).await, queue.wait(2).await];
    // Seven places are free, but the next request would depart only in three seconds.
    let limits = r#"10 7 617 | "queue";q=10;w=10 | "queue";r=0;t=1"#;
    assert_eq!(queue.get(3).await.all(), (429, "1".into(), limits.into()));
    queue.clock.advance(SECOND - MICRO);
    assert_eq!(queue.get(4).await.all(), (429, "1".into(), limits.into()));
    queue.clock.advance(MICRO);
    yield_until(async || queue.served() == [(0, 0), (1, 1_000_000)]).await;
    queue.wait(5).await.abort();
}
