//! Many threads at one memory store: what is admitted is counted exactly, and groups that cross do not wait forever.

use std::{
    sync::{Arc, Barrier, mpsc},
    thread,
    time::Duration,
};

use tollgate::{Algorithm, Charge, FixedWindow, Key, Limit, Operation, Quota, Rule};

use support::{
    memory::{acquire, apply, remaining, still},
    rules::each_algorithm,
};

const THREADS: usize = 8;
/// Of each thread at each key. The keys are taken in turn, so that every one has its race for the last place.
const REQUESTS: usize = 1000;
const KEYS: usize = 16;

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

#[test]
fn one_key_admits_its_limit_and_no_more() {
    for rule in each_algorithm(Quota::per_minute(600)) {
        let (store, _) = still();
        let shared = store.clone();
        let admitted = on_all_threads(move |_| {
            let mut delays = [const { Vec::new() }; KEYS];
            for key in (0..KEYS).cycle().take(REQUESTS * KEYS) {
                let decision = acquire(&shared, [charge("one", rule, key)]);
                delays[key].extend(decision.admits().then(|| decision.delay()));
            }
            delays
        });
        // A queue gives every request a place of its own, a tenth of a second after the one before.
        let apart = match rule {
            Rule::LeakyBucket(queue) if queue != queue.policing() => Duration::from_millis(100),
            _ => Duration::ZERO,
        };
        for key in 0..KEYS {
            let mut delays: Vec<_> = admitted.iter().flat_map(|delays| &delays[key]).copied().collect();
            delays.sort_unstable();
            assert!(delays.into_iter().eq((0..600).map(|place| place * apart)), "{rule:?}");
            assert_eq!(remaining(&store, &charge("one", rule, key)), 0, "{rule:?}");
        }
        assert_eq!(store.len(), KEYS, "{rule:?}");
    }
}

#[test]
fn tiers_that_cross_are_charged_all_or_none() {
    for rule in each_algorithm(Quota::per_minute(600)) {
        let (store, _) = still();
        let pair = move |key| {
            let wide = FixedWindow::new(Quota::per_minute(700));
            [charge("narrow", rule, key), charge("wide", wide, key)]
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
            assert_eq!(total, 600, "{rule:?}");
            assert_eq!(pair(key).map(|charge| remaining(&store, &charge)), [0, 100], "{rule:?}");
        }
        assert_eq!(store.len(), 2 * KEYS, "{rule:?}");
    }
}

#[test]
fn what_every_thread_gives_back_is_there_again() {
    for rule in each_algorithm(Quota::per_minute(600)) {
        // In a queue only the last may leave: there, every thread has a key of its own.
        let keys = match rule {
            Rule::LeakyBucket(_) => THREADS,
            _ => 1,
        };
        let (store, _) = still();
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
