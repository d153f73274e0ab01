//! A concurrency limit, against tokio's `Semaphore` per key in a DashMap.

use std::{hint::black_box, sync::Arc};

use dashmap::DashMap;
use tokio::sync::Semaphore;
use tollgate::{Charge, Concurrency, Key, Limit, MemoryStore, Operation, Store};

use super::decisions::{charge_all, decisions_per_second};
use crate::runner::{Pair, Runner};

const KEYS: usize = 10_000;
const SLOTS: u32 = 1000;

/// Requests per second of threads, each of which acquires a slot and releases it.
pub fn throughput(runner: &Runner, threads: usize) -> Pair {
    let identities: Vec<String> = (0..KEYS).map(|key| format!("user:{key}")).collect();
    let keys: Vec<Key> = identities.iter().cloned().map(Key::new).collect();
    let (store, limit) = (MemoryStore::new(), Limit::new("uploads", Concurrency::new(SLOTS)));
    let serve_ours = |number: usize| {
        let charge = Charge::new(limit.clone(), keys[number % KEYS].clone());
        let Ok(decision) = store.acquire_now(charge.into()) else {
            panic!("the memory store decides at once");
        };
        let receipt = decision.into_receipt().expect("it was admitted");
        drop(black_box(store.apply(Operation::Refund(receipt)).into_inner()));
    };
    let semaphores: DashMap<String, Arc<Semaphore>> = DashMap::new();
    for identity in &identities {
        semaphores.insert(identity.clone(), Arc::new(Semaphore::new(SLOTS as usize)));
    }
    let serve_semaphore = |number: usize| {
        let semaphore = semaphores.get(&identities[number % KEYS]).expect("it was inserted");
        let semaphore = Arc::clone(&semaphore);
        drop(black_box(semaphore.try_acquire_owned()).expect("it has a permit"));
    };
    charge_all(KEYS, &serve_ours);
    runner.alternate(
        |span| decisions_per_second(threads, span, &serve_ours),
        |span| decisions_per_second(threads, span, &serve_semaphore),
    )
}
