//! Many threads at one memory store: what is admitted is counted exactly, and groups that cross do not wait forever.

use std::{
    sync::{Arc, Barrier, mpsc},
    thread,
    time::Duration,
};

use tollgate::{
    Algorithm, Charge, Charges, Decision, FixedWindow, Key, LeakyBucket, Limit, ManualClock, MemoryStore, Operation,
    Quota, Rule, SlidingCounter, SlidingLog, Store, TokenBucket,
};

const THREADS: usize = 8;
const REQUESTS: usize = 1000;

fn store() -> MemoryStore {
    MemoryStore::builder().clock(ManualClock::at(600_000_000)).build()
}

fn apply(store: &MemoryStore, operation: Operation) -> Decision {
    store.apply(operation).into_inner().unwrap()
}

fn acquire(store: &MemoryStore, charges: impl IntoIterator<Item = Charge>) -> Decision {
    let mut group = Charges::new();
    charges.into_iter().for_each(|charge| group.push(charge).unwrap());
    apply(store, Operation::Acquire(group))
}

fn remaining(store: &MemoryStore, charge: &Charge) -> u64 {
    let decision = acquire(store, [charge.clone().cost(0)]);
    decision.tiers()[0].verdict().remaining()
}

fn charge(name: &str, rule: impl Algorithm, key: usize) -> Charge {
    Charge::new(Limit::new(name, rule), Key::new(key.to_string()))
}

/// What every thread comes back with. They start together, and a deadlock is a failure rather than a wait.
fn on_all_threads<T: Send + 'static>(work: impl Fn(usize) -> T + Send + Sync + 'static) -> Vec<T> {
    let (work, start) = (Arc::new(work), Arc::new(Barrier::new(THREADS)));
    let (done, results) = mpsc::channel();
    for thread in 0..THREADS {
        let (work, start, done) = (work.clone(), start.clone(), done.clone());
        thread::spawn(move || {
            start.wait();
            done.send(work(thread)).unwrap();
        });
    }
    drop(done);
    let next = || results.recv_timeout(Duration::from_secs(120));
    (0..THREADS)
        .map(|_| next().expect("a thread is stuck, or has panicked"))
        .collect()
}

/// A minute's worth of 600, by every algorithm.
fn rules() -> [Rule; 7] {
    let quota = Quota::per_minute(600);
    [
        TokenBucket::new(quota).rule(),
        LeakyBucket::new(quota).rule(),
        LeakyBucket::new(quota).policing().rule(),
        FixedWindow::new(quota).rule(),
        FixedWindow::new(quota).anchored().rule(),
        SlidingLog::new(quota).rule(),
        SlidingCounter::new(quota).buckets(6).rule(),
    ]
}

/// The delays of all who were admitted, shortest first.
fn delays_of_the_admitted(store: &MemoryStore, charge: &Charge) -> Vec<Duration> {
    let (store, charge) = (store.clone(), charge.clone());
    let requests = move |_| {
        let decisions = (0..REQUESTS).map(|_| acquire(&store, [charge.clone()]));
        let admitted = decisions.filter(Decision::admits);
        admitted.map(|decision| decision.delay()).collect::<Vec<_>>()
    };
    let mut delays = on_all_threads(requests).concat();
    delays.sort_unstable();
    delays
}

#[test]
fn one_key_admits_its_limit_and_no_more() {
    for rule in rules() {
        let (store, charge) = (store(), charge("one", rule, 0));
        // A queue gives every request a place of its own, a tenth of a second after the one before.
        let apart = match rule {
            Rule::LeakyBucket(queue) if queue != queue.policing() => Duration::from_millis(100),
            _ => Duration::ZERO,
        };
        let expected: Vec<_> = (0..600).map(|place| place * apart).collect();
        assert_eq!(delays_of_the_admitted(&store, &charge), expected, "{rule:?}");
        assert_eq!((store.len(), remaining(&store, &charge)), (1, 0), "{rule:?}");
    }
}

#[test]
fn tiers_that_cross_are_charged_all_or_none() {
    const PAIRS: usize = 32;
    for rule in rules() {
        let store = store();
        let pair = move |key| {
            let wide = FixedWindow::new(Quota::per_minute(700));
            [charge("narrow", rule, key), charge("wide", wide, key)]
        };
        let shared = store.clone();
        let admitted = on_all_threads(move |thread| {
            let mut admitted = [0; PAIRS];
            for request in 0..100 * PAIRS {
                let key = request % PAIRS;
                let mut charges = pair(key);
                if thread % 2 == 0 {
                    charges.reverse();
                }
                admitted[key] += usize::from(acquire(&shared, charges).admits());
            }
            admitted
        });
        for key in 0..PAIRS {
            assert_eq!(
                admitted.iter().map(|admitted| admitted[key]).sum::<usize>(),
                600,
                "{rule:?}"
            );
            assert_eq!(pair(key).map(|charge| remaining(&store, &charge)), [0, 100], "{rule:?}");
        }
        assert_eq!(store.len(), 2 * PAIRS, "{rule:?}");
    }
}

#[test]
fn what_every_thread_gives_back_is_there_again() {
    for rule in rules() {
        // In a queue only the last may leave: there, every thread has a key of its own.
        let keys = if matches!(rule, Rule::LeakyBucket(_)) {
            THREADS
        } else {
            1
        };
        let store = store();
        let shared = store.clone();
        on_all_threads(move |thread| {
            for _ in 0..REQUESTS {
                let charges = ["a", "b"].map(|name| charge(name, rule, thread % keys));
                let receipt = acquire(&shared, charges).take_receipt().unwrap();
                apply(&shared, Operation::Refund(receipt));
            }
        });
        assert!(store.is_empty(), "{rule:?}");
    }
}
