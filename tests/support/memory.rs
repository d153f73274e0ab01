//! A memory store on a manual clock, and shorthands for its operations.

use std::time::Duration;

use tollgate::{
    Algorithm, Charge, Charges, Cost, Decision, Key, Limit, ManualClock, MemoryStore, Micros, Operation, Quota,
    Receipt, Store,
};

pub const TEN: Quota = Quota::per_minute(10);
/// The start of a minute.
pub const NOW: Micros = 600_000_000;
pub const SECOND: Duration = Duration::from_secs(1);

pub fn store(max_keys: usize) -> (MemoryStore, ManualClock) {
    let clock = ManualClock::at(NOW);
    let builder = MemoryStore::builder().max_keys(max_keys).clock(clock.clone());
    (builder.build(), clock)
}

/// A store with the default capacity, at time 0.
pub fn store_at_zero() -> (MemoryStore, ManualClock) {
    let clock = ManualClock::at(0);
    (MemoryStore::builder().clock(clock.clone()).build(), clock)
}

pub fn apply(store: &MemoryStore, operation: Operation) -> Decision {
    store.apply(operation).into_inner().unwrap()
}

pub fn group(charges: impl IntoIterator<Item = Charge>) -> Charges {
    let mut group = Charges::new();
    charges.into_iter().for_each(|charge| group.push(charge).unwrap());
    group
}

pub fn acquire(store: &MemoryStore, charges: impl IntoIterator<Item = Charge>) -> Decision {
    apply(store, Operation::Acquire(group(charges)))
}

pub fn receipt(store: &MemoryStore, charge: Charge) -> Receipt {
    acquire(store, [charge]).take_receipt().unwrap()
}

pub fn costs(receipt: &Receipt) -> Vec<Cost> {
    receipt.costs().map(|(_, cost)| cost).collect()
}

pub fn remaining(store: &MemoryStore, charge: &Charge) -> u64 {
    let decision = acquire(store, [charge.clone().with_cost(0)]);
    decision.tiers()[0].verdict().remaining()
}

pub fn charge(name: &str, rule: impl Algorithm) -> Charge {
    Charge::new(Limit::new(name, rule), Key::GLOBAL)
}
