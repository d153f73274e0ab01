//! Calls that wait for their turn.

use std::time::Duration;

use tokio::task::JoinHandle;
use tollgate::{Decision, FixedWindow, LeakyBucket, Limiter, ManualClock, Micros, Quota, TokenBucket};

use support::{
    each_store::{NOW, TestStore, on_both_stores},
    held::{begin_to_wait, settled},
    patience::{patiently, yielding},
    rules::each_algorithm,
};

use crate::limiter::{MICRO, SECOND, alice, bob, decided, one, remaining, told};

on_both_stores![
    a_wait_returns_when_the_call_may_go,
    a_wait_that_is_not_worth_it_returns_at_once,
    calls_pass_in_the_order_of_their_coming,
    who_would_wait_longer_behind_the_head_is_refused_at_once,
    whose_time_runs_out_in_line_is_refused_then,
    a_wait_that_is_dropped_takes_nothing,
    a_queue_returns_at_the_departure_and_keeps_the_receipt,
    a_queue_takes_back_the_place_of_a_wait_that_is_dropped,
    what_costs_nothing_or_too_much_does_not_stand_in_line,
    clones_stand_in_one_line_and_it_has_an_end,
];

const FOREVER: Duration = Duration::MAX;

/// A call that waits: what came of it, and when.
type Wait = JoinHandle<(Decision, Micros)>;

struct Waits<St> {
    limiter: Limiter<St>,
    clock: ManualClock,
}

impl<St: TestStore> Waits<St> {
    fn new(limiter: impl FnOnce(St) -> Limiter<St>) -> Self {
        let (store, clock) = St::fresh();
        let limiter = limiter(store);
        Self { limiter, clock }
    }

    fn call(&self, cost: u64, max: Duration) -> impl Future<Output = (Decision, Micros)> + Send + use<St> {
        let (limiter, clock) = (self.limiter.clone(), self.clock.clone());
        async move {
            let decision = decided(limiter.wait_n(&alice(), cost, max).await);
            (decision, clock.now() - NOW)
        }
    }

    fn start(&self, cost: u64, max: Duration) -> Wait {
        tokio::spawn(self.call(cost, max))
    }

    /// Starts one that has to wait, and waits until it does.
    async fn wait(&self, cost: u64, max: Duration) -> Wait {
        begin_to_wait(&self.clock, self.call(cost, max)).await
    }

    async fn left(&self) -> Vec<u64> {
        told(self.limiter.peek(&alice()).await).1
    }
}

/// What came of it, and after how many microseconds. A wait that never ends fails.
async fn ended(wait: Wait) -> (Decision, Micros) {
    patiently(wait).await.unwrap()
}

/// Whether it passed, and after how many microseconds.
async fn passed(wait: Wait) -> (bool, Micros) {
    let (decision, at) = ended(wait).await;
    (decision.admits(), at)
}

async fn a_wait_returns_when_the_call_may_go<St: TestStore>() {
    for rule in each_algorithm(Quota::per_minute(1)) {
        let waits = Waits::<St>::new(|store| Limiter::new("api", rule, store));
        // Nobody waits for what is there.
        assert_eq!(passed(waits.start(1, Duration::ZERO)).await, (true, 0), "{rule:?}");
        let promised = decided(waits.limiter.check(&alice()).await).retry_after().unwrap();
        let wait = waits.wait(1, promised).await;
        waits.clock.advance(promised - MICRO);
        assert_eq!((waits.clock.waiting(), wait.is_finished()), (1, false), "{rule:?}");
        waits.clock.advance(MICRO);
        let at = promised.as_micros() as Micros;
        assert_eq!(passed(wait).await, (true, at), "{rule:?}");
        assert_eq!(waits.left().await, [0], "{rule:?}");
        // However long it may take.
        let wait = waits.wait(1, FOREVER).await;
        waits.clock.advance(promised.max(60 * SECOND));
        assert!(passed(wait).await.0, "{rule:?}");
    }
}

async fn a_wait_that_is_not_worth_it_returns_at_once<St: TestStore>() {
    let waits = Waits::<St>::new(|store| Limiter::new("api", one(), store));
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
    for max in [Duration::ZERO, SECOND, 10 * SECOND - MICRO] {
        let (decision, at) = ended(waits.start(1, max)).await;
        assert_eq!((decision.retry_after(), at), (Some(10 * SECOND), 0));
    }
    assert_eq!(waits.clock.waiting(), 0);
}

async fn calls_pass_in_the_order_of_their_coming<St: TestStore>() {
    // The second one asks for more than the others, and they wait for it nevertheless.
    let bucket = TokenBucket::new(Quota::per_second(1)).capacity(2);
    let waits = Waits::<St>::new(|store| Limiter::new("api", bucket, store));
    assert_eq!(passed(waits.start(2, FOREVER)).await, (true, 0));
    let mut line = Vec::new();
    for cost in [1, 2, 1, 1] {
        line.push(waits.wait(cost, FOREVER).await);
    }
    let (mut second, mut left) = (0, line.len());
    for (wait, seconds) in line.into_iter().zip([1, 2, 1, 1]) {
        settled(&waits.clock, left).await;
        waits.clock.advance(seconds * SECOND - MICRO);
        assert!(!wait.is_finished());
        waits.clock.advance(MICRO);
        second += u64::from(seconds);
        assert_eq!(passed(wait).await, (true, second * 1_000_000));
        left -= 1;
    }
}

async fn who_would_wait_longer_behind_the_head_is_refused_at_once<St: TestStore>() {
    let waits = Waits::<St>::new(|store| Limiter::new("api", one(), store));
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
    let head = waits.wait(1, FOREVER).await;
    waits.clock.advance(4 * SECOND);
    let (decision, at) = ended(waits.start(1, 6 * SECOND - MICRO)).await;
    assert_eq!((decision.retry_after(), at), (Some(6 * SECOND), 4_000_000));
    assert_eq!(remaining(&decision), [0]);
    // This one may yet be lucky, should the head leave.
    let second = waits.wait(1, 6 * SECOND).await;
    head.abort();
    settled(&waits.clock, 1).await;
    waits.clock.advance(6 * SECOND);
    assert_eq!(passed(second).await, (true, 10_000_000));
}

async fn whose_time_runs_out_in_line_is_refused_then<St: TestStore>() {
    let waits = Waits::<St>::new(|store| Limiter::new("api", one(), store));
    let receipt = decided(waits.limiter.check(&alice()).await).take_receipt().unwrap();
    let head = waits.wait(1, FOREVER).await;
    let second = waits.wait(1, 15 * SECOND).await;
    // The first call turns out to have cost twice as much, so the head waits twice as long.
    decided(waits.limiter.settle(receipt.settled(2)).await);
    waits.clock.advance(10 * SECOND);
    settled(&waits.clock, 2).await;
    waits.clock.advance(5 * SECOND - MICRO);
    assert_eq!(waits.clock.waiting(), 2);
    waits.clock.advance(MICRO);
    let (decision, at) = ended(second).await;
    assert_eq!((decision.retry_after(), at), (Some(5 * SECOND), 15_000_000));
    waits.clock.advance(5 * SECOND);
    assert_eq!(passed(head).await, (true, 20_000_000));
    waits.clock.advance(10 * SECOND);
    assert_eq!(waits.left().await, [1]);
}

async fn a_wait_that_is_dropped_takes_nothing<St: TestStore>() {
    let count = FixedWindow::new(Quota::per_day(100));
    let waits = Waits::<St>::new(|store| Limiter::new("api", one(), store).tier("count", count));
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
    let head = waits.wait(1, FOREVER).await;
    let second = waits.wait(1, FOREVER).await;
    for dropped in [head, second] {
        let waiting = waits.clock.waiting();
        dropped.abort();
        settled(&waits.clock, waiting - 1).await;
    }
    assert_eq!(waits.left().await, [0, 99]);
    waits.clock.advance(10 * SECOND);
    assert_eq!(waits.left().await, [1, 99]);
    assert_eq!(passed(waits.start(1, Duration::ZERO)).await, (true, 10_000_000));
}

/// Three may be in it, and one leaves a second.
fn queue<St: TestStore>(store: St) -> Limiter<St> {
    Limiter::new("queue", LeakyBucket::new(Quota::per_second(1)).capacity(3), store)
}

async fn a_queue_returns_at_the_departure_and_keeps_the_receipt<St: TestStore>() {
    let waits = Waits::<St>::new(queue);
    assert_eq!(passed(waits.start(1, Duration::ZERO)).await, (true, 0));
    // The queue holds it for a second, whatever its caller would have waited for a place.
    let wait = waits.wait(1, Duration::ZERO).await;
    assert_eq!(waits.left().await, [1]);
    waits.clock.advance(SECOND - MICRO);
    assert!(!wait.is_finished());
    waits.clock.advance(MICRO);
    let (mut decision, at) = ended(wait).await;
    assert_eq!((decision.delay(), at), (SECOND, 1_000_000));
    assert_eq!(waits.left().await, [2]);
    let receipt = decision.take_receipt().unwrap();
    assert_eq!(told(waits.limiter.refund(receipt).await), (true, vec![3]));
}

async fn a_queue_takes_back_the_place_of_a_wait_that_is_dropped<St: TestStore>() {
    let waits = Waits::<St>::new(queue);
    let mut held = Vec::new();
    assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
    for _ in 0..2 {
        held.push(waits.wait(1, FOREVER).await);
    }
    assert_eq!(waits.left().await, [0]);
    // The last one leaves its place to the next, who leaves when it would have.
    held.pop().unwrap().abort();
    yielding(async || waits.left().await == [1]).await;
    let next = waits.wait(1, Duration::ZERO).await;
    waits.clock.advance(2 * SECOND);
    assert_eq!(passed(next).await, (true, 2_000_000));
}

async fn what_costs_nothing_or_too_much_does_not_stand_in_line<St: TestStore>() {
    let waits = Waits::<St>::new(|store| Limiter::new("api", one(), store));
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

async fn clones_stand_in_one_line_and_it_has_an_end<St: TestStore>() {
    // At least one can wait, whatever is said.
    for (waiters, fit) in [(0, 1), (1, 1), (3, 3)] {
        let waits = Waits::<St>::new(|store| Limiter::new("api", one(), store).waiters(waiters));
        assert_eq!(passed(waits.start(1, FOREVER)).await, (true, 0));
        let mut line = Vec::new();
        for _ in 0..fit {
            line.push(waits.wait(1, FOREVER).await);
        }
        let (decision, at) = ended(waits.start(1, FOREVER)).await;
        assert_eq!((decision.retry_after(), at), (Some(10 * SECOND), 0), "{waiters}");
        // Others have lines of their own.
        assert!(decided(waits.limiter.wait(&bob(), FOREVER).await).admits());
        assert_eq!(waits.clock.waiting(), fit);
    }
}
