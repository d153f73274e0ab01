//! Concurrency limits in memory and on Redis, together with a rate: the same requests get the same decisions, and never more is held than
//! the limit.

use std::time::Duration;

use support::{each_store::TestStore, random::Random};
use tollgate::{
    Charge, Charges, Concurrency, Decision, FixedWindow, Key, Limit, ManualClock, MemoryStore, Operation, Quota,
    Receipt, RedisStore, Store,
};

const LIMIT: u32 = 4;

/// What a decision says, tier by tier.
fn verdicts(decision: &Decision) -> Vec<tollgate::Verdict> {
    decision.tiers().iter().map(|tier| tier.verdict()).collect()
}

async fn apply<St: Store>(store: &St, operation: Operation) -> Decision {
    let Ok(decision) = store.apply(operation).await else {
        panic!("the store cannot decide");
    };
    decision
}

#[tokio::test]
async fn memory_and_redis_hold_alike() {
    for seed in 0..40 {
        one_trace(seed).await;
    }
}

async fn one_trace(seed: u64) {
    let (mut random, clock) = (Random::seeded(seed), ManualClock::at(1_700_000_000_000_000));
    let ([memory], [redis]): ([MemoryStore; 1], [RedisStore; 1]) = (TestStore::nodes(&clock), TestStore::nodes(&clock));
    // Nothing is renewed during the test.
    let slots = Limit::new(
        "slots",
        Concurrency::new(LIMIT).time_to_live(Duration::from_secs(24 * 3600)),
    );
    let window = Limit::new("window", FixedWindow::new(Quota::per_minute(20)));
    let mut held: Vec<([Receipt; 2], u32)> = Vec::new();
    for _ in 0..100 {
        clock.advance(Duration::from_micros(random.below(2_000_000)));
        let in_use: u32 = held.iter().map(|(_, cost)| cost).sum();
        let cost = 1 + random.below(2) as u32;
        let mut charges = Charges::from(Charge::new(slots.clone(), Key::GLOBAL).with_cost(cost));
        if random.below(2) == 0 {
            charges.push(Charge::new(window.clone(), Key::GLOBAL)).unwrap();
        }
        let decisions = match random.below(5) {
            0 | 1 if !held.is_empty() => {
                let (receipts, _) = held.swap_remove(random.below(held.len() as u64) as usize);
                let [first, second] = match random.below(2) {
                    0 => receipts.map(Operation::Refund),
                    // A settled request has been served, regardless of its cost.
                    _ => receipts.map(|receipt| Operation::Settle(receipt.settled(7))),
                };
                [apply(&memory, first).await, apply(&redis, second).await]
            }
            2 => [
                apply(&memory, Operation::Peek(charges.clone())).await,
                apply(&redis, Operation::Peek(charges)).await,
            ],
            _ => {
                let acquire = |charges: Charges| Operation::Acquire(charges);
                let mut decisions = [
                    apply(&memory, acquire(charges.clone())).await,
                    apply(&redis, acquire(charges)).await,
                ];
                let admits = decisions[0].admits();
                assert!(!admits || in_use + cost <= LIMIT);
                if admits {
                    let receipts = decisions.each_mut().map(|decision| decision.take_receipt().unwrap());
                    held.push((receipts, cost));
                }
                decisions
            }
        };
        let [of_memory, of_redis] = decisions.each_ref().map(verdicts);
        assert_eq!(of_redis, of_memory, "seed {seed}");
        let in_use: u32 = held.iter().map(|(_, cost)| cost).sum();
        let slots = decisions[0].tiers().iter().find(|tier| tier.limit().name() == "slots");
        if let Some(tier) = slots.filter(|_| decisions[0].admits()) {
            assert!(tier.verdict().remaining() <= u64::from(LIMIT - in_use));
        }
    }
}
