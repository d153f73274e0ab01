//! Calls that wait for admission.

use std::time::Duration;

use tokio::task::JoinHandle;
use tollgate::{
    CallKey, Concurrency, Decision, FixedWindow, LeakyBucket, Limiter, ManualClock, Micros, Quota, Tier, TokenBucket,
};

use support::{
    algorithms::each_algorithm,
    each_store::{NOW, TestStore, on_both_stores},
    queued_server::{spawn_waiting, until_waiting},
    wait::{with_timeout, yield_until},
};

use crate::limiter::{MICRO, SECOND, alice, bob, expect_decision, one_per_10s, remaining, summary};

on_both_stores![
    a_wait_returns_when_the_call_is_admitted,
    a_wait_beyond_the_maximum_is_denied_at_once,
    calls_are_admitted_in_arrival_order,
    a_call_that_would_exceed_its_maximum_behind_the_head_is_denied_at_once,
    a_call_whose_maximum_elapses_in_the_queue_is_denied,
    a_dropped_wait_is_not_charged,
    a_delay_ends_at_the_departure_time_and_keeps_the_receipt,
    a_dropped_delay_frees_its_place,
    free_and_impossible_calls_skip_the_wait_queue,
    clones_share_one_bounded_wait_queue,
    a_refund_wakes_a_call_that_waits_for_a_slot,
];

pub(crate) const FOREVER: Duration = Duration::MAX;

/// A waiting call: its decision, and the time of the decision.
pub(crate) type Wait = JoinHandle<(Decision, Micros)>;

pub(crate) struct Waits<St> {
    pub(crate) limiter: Limiter<St>,
    pub(crate) clock: ManualClock,
}

impl<St: TestStore> Waits<St> {
    pub(crate) fn new(limiter: impl FnOnce(St) -> Limiter<St>) -> Self {
        let (store, clock) = St::fresh();
        let limiter = limiter(store);
        Self { limiter, clock }
    }

    fn call(&self, cost: u64, max: Duration) -> impl Future<Output = (Decision, Micros)> + Send + use<St> {
        let (limiter, clock) = (self.limiter.clone(), self.clock.clone());
        async move {
            let decision = expect_decision(limiter.wait_n(&alice(), cost, max).await);
            (decision, clock.now() - NOW)
        }
    }

    pub(crate) fn start(&self, cost: u64, max: Duration) -> Wait {
        tokio::spawn(self.call(cost, max))
    }

    /// Starts a call that has to wait, and returns once it waits.
    pub(crate) async fn wait(&self, cost: u64, max: Duration) -> Wait {
        spawn_waiting(&self.clock, self.call(cost, max)).await
    }

    pub(crate) async fn left(&self) -> Vec<u64> {
        summary(self.limiter.peek(&alice()).await).1
    }
}

/// The decision, and after how many microseconds. Fails if the wait never ends.
pub(crate) async fn ended(wait: Wait) -> (Decision, Micros) {
    with_timeout(wait).await.unwrap()
}

/// Whether the call was admitted, and after how many microseconds.
pub(crate) async fn passed(wait: Wait) -> (bool, Micros) {
    let (decision, at) = ended(wait).await;
    (decision.admits(), at)
}

async fn a_wait_returns_when_the_call_is_admitted<St: TestStore>() {
    for algorithm in each_algorithm(Quota::per_minute(1)) {
        let waits = Waits::<St>::new(|store| Limiter::new(Tier::new("api", algorithm, CallKey), store));
        // A call within the quota does not wait.
        assert_eq!(passed(waits.start(1, Duration::ZERO)).await, (true, 0), "{algorithm:?}");
        let promised = expect_decision(waits.limiter.check(&alice()).await)
            .retry_after()
            .unwrap();
        let wait = waits.wait(1, promised).await;
        waits.clock.advance(promised - MICRO);
        assert_eq!(
            (waits.clock.pending_sleeps(), wait.is_finished()),
            (1, false),
            "{algorithm:?}"
        );
        waits.clock.advance(MICRO);
        let at = promised.as_micros() as Micros;
        assert_eq!(passed(wait).await, (true, at), "{algorithm:?}");
        assert_eq!(waits.left().await, [0], "{algorithm:?}");
        // The maximum can be unlimited.
        let wait = waits.wait(1, FOREVER).await;
        waits.clock.advance(promised.max(60 * SECOND));
        assert!(passed(wait).await.0, "{algorithm:?}");
    }
}

async fn a_wait_beyond_the_maximum_is_denied_at_once<St: TestStore>() {
    let waits = Waits::<St>::new(|store| Limiter::new(Tier::new("api", one_per_10s(), CallKey), store));
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
    for max in [Duration::ZERO, SECOND, 10 * SECOND - MICRO] {
        let (decision, at) = ended(waits.start(1, max)).await;
        assert_eq!((decision.retry_after(), at), (Some(10 * SECOND), 0));
    }
    assert_eq!(waits.clock.pending_sleeps(), 0);
}

async fn calls_are_admitted_in_arrival_order<St: TestStore>() {
    // The second call costs more than the others. They wait behind it, since it would miss its deadline if they overtook it.
    let bucket = TokenBucket::new(Quota::per_second(1)).capacity(2);
    let waits = Waits::<St>::new(|store| Limiter::new(Tier::new("api", bucket, CallKey), store));
    assert_eq!(passed(waits.start(2, FOREVER)).await, (true, 0));
    let mut queued = Vec::new();
    for (cost, max) in [(1, FOREVER), (2, 3 * SECOND), (1, FOREVER), (1, FOREVER)] {
        queued.push(waits.wait(cost, max).await);
    }
    let (mut second, mut left) = (0, queued.len());
    for (wait, seconds) in queued.into_iter().zip([1, 2, 1, 1]) {
        until_waiting(&waits.clock, left).await;
        waits.clock.advance(seconds * SECOND - MICRO);
        assert!(!wait.is_finished());
        waits.clock.advance(MICRO);
        second += u64::from(seconds);
        assert_eq!(passed(wait).await, (true, second * 1_000_000));
        left -= 1;
    }
}

async fn a_call_that_would_exceed_its_maximum_behind_the_head_is_denied_at_once<St: TestStore>() {
    let waits = Waits::<St>::new(|store| Limiter::new(Tier::new("api", one_per_10s(), CallKey), store));
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
    let head = waits.wait(1, FOREVER).await;
    waits.clock.advance(4 * SECOND);
    let (decision, at) = ended(waits.start(1, 6 * SECOND - MICRO)).await;
    assert_eq!((decision.retry_after(), at), (Some(6 * SECOND), 4_000_000));
    assert_eq!(remaining(&decision), [0]);
    // This call can still be admitted in time if the head is dropped.
    let second = waits.wait(1, 6 * SECOND).await;
    head.abort();
    until_waiting(&waits.clock, 1).await;
    waits.clock.advance(6 * SECOND);
    assert_eq!(passed(second).await, (true, 10_000_000));
}

async fn a_call_whose_maximum_elapses_in_the_queue_is_denied<St: TestStore>() {
    let waits = Waits::<St>::new(|store| Limiter::new(Tier::new("api", one_per_10s(), CallKey), store));
    let receipt = expect_decision(waits.limiter.check(&alice()).await)
        .take_receipt()
        .unwrap();
    let head = waits.wait(1, FOREVER).await;
    let second = waits.wait(1, 15 * SECOND).await;
    // The first call settles at twice its cost, so the head waits twice as long.
    expect_decision(waits.limiter.settle(receipt.settled(2)).await);
    waits.clock.advance(10 * SECOND);
    until_waiting(&waits.clock, 2).await;
    waits.clock.advance(5 * SECOND - MICRO);
    assert_eq!(waits.clock.pending_sleeps(), 2);
    waits.clock.advance(MICRO);
    let (decision, at) = ended(second).await;
    assert_eq!((decision.retry_after(), at), (Some(5 * SECOND), 15_000_000));
    waits.clock.advance(5 * SECOND);
    assert_eq!(passed(head).await, (true, 20_000_000));
    waits.clock.advance(10 * SECOND);
    assert_eq!(waits.left().await, [1]);
}

async fn a_dropped_wait_is_not_charged<St: TestStore>() {
    let count = FixedWindow::new(Quota::per_day(100));
    let waits = Waits::<St>::new(|store| {
        Limiter::new(Tier::new("api", one_per_10s(), CallKey), store).tier(Tier::new("count", count, CallKey))
    });
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
    let head = waits.wait(1, FOREVER).await;
    let second = waits.wait(1, FOREVER).await;
    for dropped in [head, second] {
        let waiting = waits.clock.pending_sleeps();
        dropped.abort();
        until_waiting(&waits.clock, waiting - 1).await;
    }
    assert_eq!(waits.left().await, [0, 99]);
    waits.clock.advance(10 * SECOND);
    assert_eq!(waits.left().await, [1, 99]);
    assert_eq!(passed(waits.start(1, Duration::ZERO)).await, (true, 10_000_000));
}

/// One call per second, at most three in the queue.
fn queue<St: TestStore>(store: St) -> Limiter<St> {
    Limiter::new(
        Tier::new("queue", LeakyBucket::new(Quota::per_second(1)).capacity(3), CallKey),
        store,
    )
}

async fn a_delay_ends_at_the_departure_time_and_keeps_the_receipt<St: TestStore>() {
    let waits = Waits::<St>::new(queue);
    assert_eq!(passed(waits.start(1, Duration::ZERO)).await, (true, 0));
    // The bucket delays an admitted call by a second, even if the caller's maximum wait is zero.
    let wait = waits.wait(1, Duration::ZERO).await;
    assert_eq!(waits.left().await, [1]);
    waits.clock.advance(SECOND - MICRO);
    assert!(!wait.is_finished());
    waits.clock.advance(MICRO);
    let (mut decision, at) = ended(wait).await;
    assert_eq!((decision.delay(), at), (SECOND, 1_000_000));
    assert_eq!(waits.left().await, [2]);
    let receipt = decision.take_receipt().unwrap();
    assert_eq!(summary(waits.limiter.refund(receipt).await), (true, vec![3]));
}

async fn a_dropped_delay_frees_its_place<St: TestStore>() {
    let waits = Waits::<St>::new(queue);
    let mut held = Vec::new();
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
    for _ in 0..2 {
        held.push(waits.wait(1, FOREVER).await);
    }
    assert_eq!(waits.left().await, [0]);
    // The next call takes the place of the dropped last one, and departs at its time.
    held.pop().unwrap().abort();
    yield_until(async || waits.left().await == [1]).await;
    let next = waits.wait(1, Duration::ZERO).await;
    waits.clock.advance(2 * SECOND);
    assert_eq!(passed(next).await, (true, 2_000_000));
}

async fn free_and_impossible_calls_skip_the_wait_queue<St: TestStore>() {
    let waits = Waits::<St>::new(|store| Limiter::new(Tier::new("api", one_per_10s(), CallKey), store));
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
    let head = waits.wait(1, FOREVER).await;
    assert_eq!(passed(waits.start(0, FOREVER)).await, (true, 0));
    for cost in [2, u64::MAX] {
        let (decision, at) = ended(waits.start(cost, FOREVER)).await;
        assert_eq!((decision.outcome().name(), at), ("impossible", 0));
    }
    waits.clock.advance(10 * SECOND);
    assert_eq!(passed(head).await, (true, 10_000_000));
}

async fn clones_share_one_bounded_wait_queue<St: TestStore>() {
    // The wait queue holds at least one call, even if it is set to zero.
    for (waiters, fit) in [(0, 1), (1, 1), (3, 3)] {
        let waits = Waits::<St>::new(|store| {
            Limiter::new(Tier::new("api", one_per_10s(), CallKey), store).max_waiters(waiters)
        });
        assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
        let mut queued = Vec::new();
        for _ in 0..fit {
            queued.push(waits.wait(1, FOREVER).await);
        }
        let (decision, at) = ended(waits.start(1, FOREVER)).await;
        assert_eq!((decision.retry_after(), at), (Some(10 * SECOND), 0), "{waiters}");
        // Other keys have their own wait queues.
        assert!(expect_decision(waits.limiter.wait(&bob(), FOREVER).await).admits());
        assert_eq!(waits.clock.pending_sleeps(), fit);
    }
}

/// Before the time at which it would ask again.
async fn a_refund_wakes_a_call_that_waits_for_a_slot<St: TestStore>() {
    let slot = || Tier::new("exports", Concurrency::new(1), CallKey);
    let waits = Waits::<St>::new(|store| Limiter::new(slot(), store));
    let mut held = expect_decision(waits.limiter.check(&alice()).await);
    let waiting = waits.wait(1, FOREVER).await;
    let receipt = held.take_receipt().unwrap();
    expect_decision(waits.limiter.refund(receipt).await);
    let (decision, at) = ended(waiting).await;
    assert_eq!((decision.admits(), at), (true, 0));
}
