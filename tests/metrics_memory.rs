//! The gauge of keys in the memory stores. It covers the whole process, so the tests run one at a time.

use std::{
    sync::{Barrier, LazyLock, Mutex, MutexGuard, PoisonError},
    thread,
};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use support::memory::{SECOND, apply, group, store};
use tollgate::{Charge, FixedWindow, Key, Limit, MemoryStore, Operation, Quota};

/// A store with keys from before the recorder was installed, and the recorder.
static STORE_AND_RECORDER: LazyLock<(MemoryStore, PrometheusHandle)> = LazyLock::new(|| {
    let (store, _) = store(10);
    (0..EARLY_KEYS).for_each(|key| charge(&store, key));
    (store, PrometheusBuilder::new().install_recorder().unwrap())
});

const EARLY_KEYS: usize = 3;

/// Locks the process for one test.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    LazyLock::force(&STORE_AND_RECORDER);
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The gauge's value without the early keys.
fn keys() -> usize {
    let page = STORE_AND_RECORDER.1.render();
    let mut lines = page.lines();
    let level = lines.find_map(|line| line.strip_prefix("tollgate_memory_keys "));
    level.unwrap().parse::<usize>().unwrap() - EARLY_KEYS
}

fn charge_for(key: usize) -> Charge {
    let limit = Limit::new("user", FixedWindow::new(Quota::new(9, SECOND)));
    Charge::new(limit, Key::named("user", key))
}

fn charge(store: &MemoryStore, key: usize) {
    assert!(apply(store, Operation::Acquire(charge_for(key).into())).admits());
}

#[test]
fn added_evicted_reset_and_swept_keys_are_counted() {
    let _exclusive = exclusive();
    let (store, clock) = store(8);
    for key in 1..=8 {
        charge(&store, key);
        charge(&store, key);
        assert_eq!(keys(), key);
    }
    // The ninth key evicts another one.
    charge(&store, 9);
    assert_eq!((keys(), store.len()), (8, 8));
    apply(&store, Operation::Reset(charge_for(9).into()));
    assert_eq!(keys(), 7);
    // Each charge sweeps two expired keys, and a few are never swept.
    clock.advance(SECOND);
    charge(&store, 10);
    assert_eq!((keys(), store.len()), (6, 6));
    apply(&store, Operation::Acquire(group([charge_for(11), charge_for(12)])));
    assert_eq!(keys(), store.len());
    let clone = store.clone();
    drop(store);
    assert_eq!(keys(), clone.len());
    drop(clone);
    assert_eq!(keys(), 0);
}

#[test]
fn the_gauge_is_the_sum_of_all_stores() {
    let _exclusive = exclusive();
    let stores = [5, 7].map(|count| {
        let (store, _) = store(100);
        (0..count).for_each(|key| charge(&store, key));
        store
    });
    assert_eq!(keys(), 12);
    let [five, _seven] = stores;
    drop(five);
    assert_eq!(keys(), 7);
}

/// Concurrent threads may set the gauge out of order, but its last value is exact.
#[test]
fn the_count_is_exact_after_concurrent_charges() {
    const THREADS: usize = 4;
    const ROUNDS: usize = 5000;
    let _exclusive = exclusive();
    let (store, _) = store(1_000_000);
    let (begin, end) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, begin, end) = (&store, &begin, &end);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    begin.wait();
                    charge(store, round * THREADS + thread);
                    end.wait();
                }
            });
        }
        let wrong = (1..=ROUNDS).filter(|round| {
            begin.wait();
            end.wait();
            keys() != round * THREADS
        });
        assert_eq!(wrong.count(), 0);
    });
}
