//! A leaky bucket that queues: requests leave evenly.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, extract::Path, routing::get};
use tokio::{task::JoinHandle, task::JoinSet};
use tollgate::{FixedWindow, Global, Key, LeakyBucket, Limit, ManualClock, Micros, Quota, RateLimitLayer};

use crate::fixture::{NOW, Reply, Server, TestStore, on_both_stores, yielding};

on_both_stores![
    five_at_once_leave_a_second_apart,
    of_twenty_at_once_ten_are_held_and_ten_refused,
    a_full_queue_tells_when_there_is_room,
    a_request_that_would_wait_too_long_is_refused,
];

pub(crate) const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn one_a_second() -> LeakyBucket {
    LeakyBucket::new(Quota::per_second(1)).capacity(10)
}

/// Who has been served, and how many microseconds after the start.
type Served = Arc<Mutex<Vec<(u32, Micros)>>>;

/// A queue, beside a tier that counts a hundred a day.
pub(crate) struct Queue<St> {
    server: Server,
    store: St,
    pub(crate) clock: ManualClock,
    served: Served,
}

impl<St: TestStore> Queue<St> {
    pub(crate) async fn start(queue: LeakyBucket) -> Self {
        let ((store, clock), served) = (St::fresh(), Served::default());
        let layer = RateLimitLayer::new("queue", queue, Global, store.clone())
            .tier("count", FixedWindow::new(Quota::per_day(100)), Global)
            .unlisted();
        let handler = {
            let (clock, served) = (clock.clone(), served.clone());
            async move |Path(request): Path<u32>| served.lock().unwrap().push((request, clock.now() - NOW))
        };
        let server = Server::start(Router::new().route("/{request}", get(handler)).layer(layer)).await;
        Self {
            server,
            store,
            clock,
            served,
        }
    }

    pub(crate) fn get(&self, request: u32) -> impl Future<Output = Reply> + Send + use<St> {
        self.server.get(&format!("/{request}"))
    }

    /// Sends a request that is held, and waits until it is.
    pub(crate) async fn hold(&self, request: u32) -> JoinHandle<Reply> {
        let before = self.clock.waiting();
        let held = tokio::spawn(self.get(request));
        yielding(async || self.clock.waiting() == before + 1).await;
        held
    }

    pub(crate) fn served(&self) -> Vec<(u32, Micros)> {
        self.served.lock().unwrap().clone()
    }

    /// What is left of the queue and of the count.
    pub(crate) async fn left(&self) -> (u64, u64) {
        let queue = Limit::new("queue", one_a_second());
        let count = Limit::new("count", FixedWindow::new(Quota::per_day(100)));
        let queue = self.store.left(&queue, &Key::GLOBAL).await;
        (queue, self.store.left(&count, &Key::GLOBAL).await)
    }
}

pub(crate) fn limits(left: u32, reset: u32, more_in: u32) -> String {
    format!(r#"10 {left} {reset} | "queue";q=10;w=10 | "queue";r={left};t={more_in}"#)
}

async fn five_at_once_leave_a_second_apart<St: TestStore>() {
    let queue = Queue::<St>::start(one_a_second()).await;
    // The headers tell how things stood when it was decided.
    assert_eq!(queue.get(0).await.all(), (200, "-".into(), limits(9, 617, 1)));
    let mut held = Vec::new();
    for request in 1..5 {
        held.push(queue.hold(request).await);
    }
    let mut served = vec![(0, 0)];
    for (request, held) in (1..5).zip(held) {
        queue.clock.advance(SECOND - Duration::from_micros(1));
        assert_eq!(
            (queue.served(), queue.clock.waiting()),
            (served.clone(), 5 - request as usize)
        );
        queue.clock.advance(Duration::from_micros(1));
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
    let queue = Queue::<St>::start(one_a_second()).await;
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
    let queue = Queue::<St>::start(LeakyBucket::new(Quota::per_minute(7)).capacity(3)).await;
    let limits = |left: u32, reset: u32, more_in: u32| {
        format!(r#"3 {left} {reset} | "queue";q=3;w=26 | "queue";r={left};t={more_in}"#)
    };
    assert_eq!(queue.get(0).await.limits(), limits(2, 624, 9));
    let held = [queue.hold(1).await, queue.hold(2).await];
    assert_eq!(queue.get(3).await.all(), (429, "9".into(), limits(0, 624, 9)));
    queue.clock.set(NOW + 8_571_428);
    assert_eq!(queue.get(4).await.all(), (429, "1".into(), limits(0, 624, 1)));
    assert_eq!((queue.served(), queue.clock.waiting()), (vec![(0, 0)], 2));
    queue.clock.set(NOW + 8_571_429);
    let [first, second] = held;
    assert_eq!(first.await.unwrap().limits(), limits(1, 633, 18));
    let third = queue.hold(5).await;
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
    let queue = Queue::<St>::start(one_a_second().max_wait(2 * SECOND)).await;
    assert_eq!(queue.get(0).await.status, 200);
    let _held = [queue.hold(1).await, queue.hold(2).await];
    // There is room for seven more, but it would be three seconds until the next one leaves.
    assert_eq!(queue.get(3).await.all(), (429, "1".into(), limits(7, 617, 1)));
    queue.clock.advance(SECOND - Duration::from_micros(1));
    assert_eq!(queue.get(4).await.all(), (429, "1".into(), limits(7, 617, 1)));
    queue.clock.advance(Duration::from_micros(1));
    yielding(async || queue.served() == [(0, 0), (1, 1_000_000)]).await;
    queue.hold(5).await.abort();
}
