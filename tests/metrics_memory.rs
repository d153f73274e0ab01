//! How many keys the memory stores hold, as the gauge says. It is about the whole process, so there is one test at a time.

use std::{
    sync::{Barrier, LazyLock, Mutex, MutexGuard, PoisonError},
    thread,
};

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use support::memory::{SECOND, apply, group, store};
use tollgate::{Charge, FixedWindow, Key, Limit, MemoryStore, Operation, Quota};

/// A store that held keys before there was a recorder, and the recorder's page.
static PAGE: LazyLock<(MemoryStore, PrometheusHandle)> = LazyLock::new(|| {
    let (store, _) = store(10);
    (0..EARLY).for_each(|key| charge(&store, key));
    (store, PrometheusBuilder::new().install_recorder().unwrap())
});

const EARLY: usize = 3;

/// The process, for one test.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    LazyLock::force(&PAGE);
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many keys there are besides those that were early.
fn keys() -> usize {
    let page = PAGE.1.render();
    let mut lines = page.lines();
    let level = lines.find_map(|line| line.strip_prefix("tollgate_memory_keys "));
    level.unwrap().parse::<usize>().unwrap() - EARLY
}

fn of(key: usize) -> Charge {
    let limit = Limit::new("user", FixedWindow::new(Quota::new(9, SECOND)));
    Charge::new(limit, Key::named("user", key))
}

fn charge(store: &MemoryStore, key: usize) {
    assert!(apply(store, Operation::Acquire(of(key).into())).admits());
}

#[test]
fn keys_are_counted_as_they_come_and_go() {
    let _alone = alone();
    let (store, clock) = store(8);
    for key in 1..=8 {
        charge(&store, key);
        charge(&store, key);
        assert_eq!(keys(), key);
    }
    // Another one takes the place of one of them.
    charge(&store, 9);
    assert_eq!((keys(), store.len()), (8, 8));
    apply(&store, Operation::Reset(of(9).into()));
    assert_eq!(keys(), 7);
    // What has lapsed is swept by whoever comes by, two at a time, and a few are left.
    clock.advance(SECOND);
    charge(&store, 10);
    assert_eq!((keys(), store.len()), (6, 6));
    apply(&store, Operation::Acquire(group([of(11), of(12)])));
    assert_eq!(keys(), store.len());
    let clone = store.clone();
    drop(store);
    assert_eq!(keys(), clone.len());
    drop(clone);
    assert_eq!(keys(), 0);
}

#[test]
fn stores_add_up() {
    let _alone = alone();
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

/// Threads that change it at the same moment may tell of it in another order; the last word is right all the same.
#[test]
fn when_threads_have_done_what_they_do_the_count_is_exact() {
    const THREADS: usize = 4;
    const TURNS: usize = 5000;
    let _alone = alone();
    let (store, _) = store(1_000_000);
    let (begin, end) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, begin, end) = (&store, &begin, &end);
            scope.spawn(move || {
                for turn in 0..TURNS {
                    begin.wait();
                    charge(store, turn * THREADS + thread);
                    end.wait();
                }
            });
        }
        let wrong = (1..=TURNS).filter(|turn| {
            begin.wait();
            end.wait();
            keys() != turn * THREADS
        });
        assert_eq!(wrong.count(), 0);
    });
}
