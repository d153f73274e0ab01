//! Tests of `wait`.

use std::convert::Infallible;

use tokio::{sync::Semaphore, task::yield_now};

use super::*;
use crate::{
    algorithm::{Concurrency, TokenBucket},
    charge::Charge,
    clock::ManualClock,
    key::Key,
    permit::Permit,
    quota::{Cost, Quota},
    store::MemoryStore,
    wait_queue::{DEFAULT_MAX_WAITERS, permit},
};

/// A memory store that applies operations at once, and returns one decision per permit.
#[derive(Clone)]
struct SlowStore {
    memory: MemoryStore,
    replies: Arc<Semaphore>,
}

impl Store for SlowStore {
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Decision, Infallible>> + Send>>;

    fn apply(&self, operation: Operation) -> Self::Future {
        let (decision, replies) = (self.memory.apply(operation), Arc::clone(&self.replies));
        Box::pin(async move {
            replies.acquire().await.expect("it is never closed").forget();
            decision.await
        })
    }

    fn clock(&self) -> &Clock {
        self.memory.clock()
    }
}

struct Fixture {
    store: SlowStore,
    clock: ManualClock,
    config: WaitConfig,
}

fn charges(cost: Cost) -> Charges {
    let limit = Limit::new("api", TokenBucket::new(Quota::per_second(1)).capacity(100));
    Charge::new(limit, Key::GLOBAL).with_cost(cost).into()
}

impl Fixture {
    /// With 90 of 100 units available.
    fn new() -> Self {
        let clock = ManualClock::at(0);
        let memory = MemoryStore::builder().clock(clock.clone()).build();
        let Ok(_) = memory.apply(Operation::Acquire(charges(10))).into_inner();
        let replies = Arc::new(Semaphore::new(0));
        let queues = Arc::new(WaitQueues::new(DEFAULT_MAX_WAITERS));
        let max_wait = Duration::from_secs(20);
        Self {
            store: SlowStore { memory, replies },
            clock,
            config: WaitConfig { max_wait, queues },
        }
    }

    fn acquire(&self, cost: Cost) -> Pin<Box<impl Future<Output = Result<Decision, Infallible>> + use<>>> {
        self.acquire_all(charges(cost))
    }

    /// Holds a slot.
    fn hold(&self, slot: &Charge) -> Permit {
        let memory = &self.store.memory;
        let Ok(mut served) = memory.apply(Operation::Acquire(slot.clone().into())).into_inner();
        permit(memory, &mut served, Some(&self.config.queues)).expect("it was admitted")
    }

    fn acquire_all(&self, charges: Charges) -> Pin<Box<impl Future<Output = Result<Decision, Infallible>> + use<>>> {
        let (config, store) = (self.config.clone(), self.store.clone());
        Box::pin(async move { config.acquire(&store, charges).await })
    }

    fn left(&self) -> u64 {
        let Ok(decision) = self.store.memory.apply(Operation::Peek(charges(0))).into_inner();
        decision.tiers()[0].verdict().remaining()
    }

    fn reply(&self) {
        self.store.replies.add_permits(1);
    }
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    poll_fn(|context| match Pin::new(&mut *future).poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Cancels an overtaking request of this cost after so many replies, and the head's turn begins before the others.
async fn cancel_after(replies: usize, cost: Cost, left_before_cancel: u64) {
    let fixture = Fixture::new();
    let mut head = fixture.acquire(100);
    fixture.reply();
    assert!(poll_once(&mut head).await.is_none());
    let mut overtaking = fixture.acquire(cost);
    assert!(poll_once(&mut overtaking).await.is_none());
    for _ in 0..replies {
        fixture.reply();
        assert!(poll_once(&mut overtaking).await.is_none());
    }
    assert_eq!(fixture.left(), left_before_cancel);
    drop(overtaking);
    fixture.clock.advance(Duration::from_secs(10));
    // Its charge is not refunded yet, so the head does not ask.
    for _ in 0..5 {
        assert!(poll_once(&mut head).await.is_none());
        yield_now().await;
    }
    let mut decision = None;
    for _ in 0..10 {
        if decision.is_none() {
            fixture.reply();
            yield_now().await;
            decision = poll_once(&mut head).await;
        }
    }
    let Some(Ok(decision)) = decision else {
        panic!("the head is denied");
    };
    assert_eq!(
        (decision.admits(), decision.now(), fixture.left()),
        (true, 10_000_000, 0)
    );
    // No request waits any more, and nothing is locked.
    assert_eq!(fixture.clock.pending_sleeps(), 0);
    assert!(fixture.config.queues.existing_queue(&charges(1)).is_none());
}

#[tokio::test]
async fn an_overtaking_request_that_is_cancelled_is_refunded_before_the_head_asks() {
    // While it acquires, and while it peeks at the head's charges.
    cancel_after(0, 1, 89).await;
    cancel_after(1, 1, 89).await;
    // A cost of 11 would delay the head beyond its deadline, and is refunded at once.
    cancel_after(0, 11, 79).await;
    cancel_after(1, 11, 79).await;
    cancel_after(2, 11, 90).await;
}

/// The slot is released after the store has denied the request, and before the request knows it.
#[tokio::test]
async fn a_slot_that_is_released_before_the_denial_arrives_is_not_missed() {
    let fixture = Fixture::new();
    let slot = Charge::new(Limit::new("slots", Concurrency::new(1)), Key::GLOBAL);
    let permit = fixture.hold(&slot);
    let mut waiting = fixture.acquire_all(slot.into());
    assert!(poll_once(&mut waiting).await.is_none());
    drop(permit);
    // No time passes, so it does not ask for slots that were released elsewhere.
    fixture.reply();
    fixture.reply();
    let Some(Ok(decision)) = poll_once(&mut waiting).await else {
        panic!("it waits");
    };
    assert!(decision.admits());
}

/// When a slot becomes free is not known, so the hint does not end the wait, even if it is longer than the wait.
#[tokio::test]
async fn an_overtaking_request_that_finds_no_slot_keeps_waiting() {
    let fixture = Fixture::new();
    let slots = Limit::new("slots", Concurrency::new(1).retry_after(Duration::from_secs(60)));
    let slot = Charge::new(slots, Key::GLOBAL);
    let permit = fixture.hold(&slot);
    let mut head = fixture.acquire(92);
    fixture.reply();
    assert!(poll_once(&mut head).await.is_none());
    let mut both = charges(1);
    both.push(slot).expect("its limit is another");
    let mut waiting = fixture.acquire_all(both);
    fixture.reply();
    assert!(poll_once(&mut waiting).await.is_none());
    drop(permit);
    fixture.clock.advance(POLL_INTERVAL);
    fixture.reply();
    fixture.reply();
    let Some(Ok(decision)) = poll_once(&mut waiting).await else {
        panic!("it waits");
    };
    assert!(decision.admits());
}

/// As in a `select` whose other branch takes long.
#[tokio::test]
async fn an_overtaking_request_that_is_not_polled_delays_the_head_until_its_deadline_at_most() {
    let fixture = Fixture::new();
    let mut head = fixture.acquire(100);
    fixture.reply();
    assert!(poll_once(&mut head).await.is_none());
    let mut overtaking = fixture.acquire(1);
    assert!(poll_once(&mut overtaking).await.is_none());
    fixture.clock.advance(Duration::from_secs(10));
    assert!(poll_once(&mut head).await.is_none());
    fixture.clock.advance(Duration::from_secs(10));
    assert!(poll_once(&mut head).await.is_none());
    // The store answers both in turn.
    fixture.reply();
    fixture.reply();
    let Some(Ok(decision)) = poll_once(&mut head).await else {
        panic!("it waits");
    };
    assert!(decision.admits());
}
