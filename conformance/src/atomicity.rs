//! All or none, and concurrent requests.

use std::{panic, thread, time::Duration};

use tokio::{runtime, sync::oneshot};
use tollgate::{Charge, Charges, FixedWindow, Key, Limit, ManualClock, Operation, Quota, Receipt, Store, TokenBucket};

use crate::{START, apply};

fn limit(name: &str, per_day: u32) -> Limit {
    Limit::new(name, FixedWindow::new(Quota::per_day(per_day)).anchored())
}

fn charge(limit: &Limit) -> Charge {
    Charge::new(limit.clone(), Key::new("key"))
}

fn both(first: &Limit, second: &Limit) -> Charges {
    let mut charges = Charges::from(charge(first));
    charges.push(charge(second)).expect("limits with different names");
    charges
}

async fn remaining<St: Store>(store: &St, limit: &Limit) -> u64 {
    let peek = Operation::Peek(charge(limit).with_cost(0).into());
    apply(store, peek).await.tiers()[0].verdict().remaining()
}

/// A request that one tier denies is charged to no tier, and has no receipt; one that is admitted is charged to all.
///
/// # Panics
/// If a decision differs.
pub async fn all_or_none<St: Store>(fresh: &impl Fn(ManualClock) -> St) {
    let store = fresh(ManualClock::at(START));
    let (wide, narrow) = (limit("wide", 10), limit("narrow", 2));
    for (admits, left) in [(true, [9, 1]), (true, [8, 0]), (false, [8, 0])] {
        let mut decision = apply(&store, Operation::Acquire(both(&wide, &narrow))).await;
        assert_eq!(decision.admits(), admits, "two requests of three pass both tiers");
        let remaining = [remaining(&store, &wide).await, remaining(&store, &narrow).await];
        assert_eq!(remaining, left, "a denied request is charged to no tier");
        assert_eq!(
            decision.take_receipt().is_some(),
            admits,
            "only an admitted request has a receipt"
        );
    }
    // A key is charged by itself, under each limit by itself.
    let other = Charge::new(narrow.clone(), Key::new("other"));
    assert!(
        apply(&store, Operation::Acquire(other.into())).await.admits(),
        "another key has its own state"
    );
    let hourly = Limit::new("narrow", FixedWindow::new(Quota::per_hour(2)).anchored());
    assert!(
        apply(&store, Operation::Acquire(charge(&hourly).into())).await.admits(),
        "a limit with another window has its own state"
    );
}

/// A clock that goes back frees no capacity.
///
/// # Panics
/// If a request is admitted.
pub async fn clock_goes_back<St: Store>(fresh: &impl Fn(ManualClock) -> St) {
    let clock = ManualClock::at(START);
    let store = fresh(clock.clone());
    let bucket = Limit::new("bucket", TokenBucket::new(Quota::per_minute(2)));
    let two = || Operation::Acquire(charge(&bucket).with_cost(2).into());
    assert!(apply(&store, two()).await.admits());
    for seconds in [1, 59] {
        clock.set(START - Duration::from_secs(seconds).as_micros() as u64);
        assert!(
            !apply(&store, two()).await.admits(),
            "the clock went back by {seconds} s"
        );
    }
}

/// Two hundred requests of eight tasks on several threads: as many as the limit allows are admitted, and each is charged to both of its
/// tiers or to none. When all are refunded, the state is as before.
///
/// # Panics
/// If the numbers differ.
pub async fn concurrency<St: Store>(fresh: &impl Fn(ManualClock) -> St) {
    let store = fresh(ManualClock::at(START));
    let (end, ended) = oneshot::channel::<()>();
    // On a thread of its own: the caller's runtime may have one thread, on which the connections of the store depend.
    let checked = thread::spawn(move || {
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build();
        runtime
            .expect("a runtime can be built")
            .block_on(concurrent_requests(store));
        drop(end);
    });
    // It is dropped at the end, also by a panic.
    ended.await.ok();
    if let Err(panic) = checked.join() {
        panic::resume_unwind(panic);
    }
}

async fn concurrent_requests<St: Store>(store: St) {
    let [alone, wide, narrow] = [limit("alone", 100), limit("wide", 150), limit("narrow", 100)];
    let groups = [Charges::from(charge(&alone)), both(&wide, &narrow)];
    let mut receipts = [Vec::new(), Vec::new()];
    for (receipts, charges) in receipts.iter_mut().zip(groups) {
        let tasks: Vec<_> = (0..8)
            .map(|_| tokio::spawn(acquire(store.clone(), charges.clone())))
            .collect();
        for task in tasks {
            receipts.extend(task.await.expect("the store does not fail"));
        }
    }
    let [of_one, of_two] = receipts.each_ref().map(|receipts| receipts.len() as u64);
    assert_eq!(of_one, 100, "200 requests under a limit of 100");
    // Where tiers are on several servers, requests that are being refunded may deny others.
    assert!(of_two <= 100, "{of_two} requests passed a limit of 100");
    let left = [remaining(&store, &wide).await, remaining(&store, &narrow).await];
    assert_eq!(left, [150 - of_two, 100 - of_two], "all or none");
    for receipt in receipts.into_iter().flatten() {
        apply(&store, Operation::Refund(receipt)).await;
    }
    for (limit, full) in [(alone, 100), (wide, 150), (narrow, 100)] {
        assert_eq!(remaining(&store, &limit).await, full, "all charges are refunded");
    }
}

/// The receipts of 25 requests.
async fn acquire<St: Store>(store: St, charges: Charges) -> Vec<Receipt> {
    let mut receipts = Vec::new();
    for _ in 0..25 {
        let mut decision = apply(&store, Operation::Acquire(charges.clone())).await;
        if decision.admits() {
            receipts.push(decision.take_receipt().expect("it was admitted"));
        }
    }
    receipts
}
