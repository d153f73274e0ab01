//! Concurrent threads on one memory store: admissions are counted exactly, and groups in opposite orders do not deadlock.

use std::{
    sync::{Arc, Barrier, mpsc},
    thread,
    time::Duration,
};

use tollgate::{Algorithm, AnyAlgorithm, Charge, FixedWindow, Key, Limit, Operation, Quota};

use support::{
    algorithms::each_algorithm,
    memory::{acquire, apply, remaining, store_at_zero},
};

const THREADS: usize = 8;
/// Per thread and key. Each thread cycles through the keys, so that there is a race for the last unit of every key.
const REQUESTS: usize = 1000;
const KEYS: usize = 16;

fn charge(name: &str, algorithm: impl Algorithm, key: usize) -> Charge {
    Charge::new(Limit::new(name, algorithm), Key::new(key.to_string()))
}

/// The results of all threads, which start together. A deadlock fails the test after a timeout.
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

#[test]
fn one_key_admits_its_limit_and_no_more() {
    for algorithm in each_algorithm(Quota::per_minute(600)) {
        let (store, _) = store_at_zero();
        let shared = store.clone();
        let admitted = on_all_threads(move |_| {
            let mut delays = [const { Vec::new() }; KEYS];
            for key in (0..KEYS).cycle().take(REQUESTS * KEYS) {
                let decision = acquire(&shared, [charge("one", algorithm, key)]);
                delays[key].extend(decision.admits().then(|| decision.delay()));
            }
            delays
        });
        // A queue delays each request by a tenth of a second more than the one before.
        let apart = match algorithm {
            AnyAlgorithm::LeakyBucket(queue) if queue != queue.policing() => Duration::from_millis(100),
            _ => Duration::ZERO,
        };
        for key in 0..KEYS {
            let mut delays: Vec<_> = admitted.iter().flat_map(|delays| &delays[key]).copied().collect();
            delays.sort_unstable();
            assert!(
                delays.into_iter().eq((0..600).map(|place| place * apart)),
                "{algorithm:?}"
            );
            assert_eq!(remaining(&store, &charge("one", algorithm, key)), 0, "{algorithm:?}");
        }
        assert_eq!(store.len(), KEYS, "{algorithm:?}");
    }
}

#[test]
fn groups_in_opposite_orders_are_charged_all_or_none() {
    for algorithm in each_algorithm(Quota::per_minute(600)) {
        let (store, _) = store_at_zero();
        let pair = move |key| {
            let wide = FixedWindow::new(Quota::per_minute(700));
            [charge("narrow", algorithm, key), charge("wide", wide, key)]
        };
        let shared = store.clone();
        let admitted = on_all_threads(move |thread| {
            let mut admitted = [0; KEYS];
            for key in (0..KEYS).cycle().take(REQUESTS / 5 * KEYS) {
                let mut charges = pair(key);
                if thread % 2 == 0 {
                    charges.reverse();
                }
                admitted[key] += usize::from(acquire(&shared, charges).admits());
            }
            admitted
        });
        for key in 0..KEYS {
            let total: usize = admitted.iter().map(|admitted| admitted[key]).sum();
            assert_eq!(total, 600, "{algorithm:?}");
            assert_eq!(
                pair(key).map(|charge| remaining(&store, &charge)),
                [0, 100],
                "{algorithm:?}"
            );
        }
        assert_eq!(store.len(), 2 * KEYS, "{algorithm:?}");
    }
}

#[test]
fn concurrent_refunds_restore_every_charge() {
    for algorithm in each_algorithm(Quota::per_minute(600)) {
        // A queue refunds only its last place, so every thread has its own key there.
        let keys = match algorithm {
            AnyAlgorithm::LeakyBucket(_) => THREADS,
            _ => 1,
        };
        let (store, _) = store_at_zero();
        let shared = store.clone();
        on_all_threads(move |thread| {
            for _ in 0..REQUESTS {
                let charges = ["a", "b"].map(|name| charge(name, algorithm, thread % keys));
                let receipt = acquire(&shared, charges).take_receipt().unwrap();
                apply(&shared, Operation::Refund(receipt));
            }
        });
        assert!(store.is_empty(), "{algorithm:?}");
    }
}
