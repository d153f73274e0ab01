//! Cases that were worked out by hand, from `vectors/`.

use std::time::Duration;

use serde_json::Value;
use tollgate::{
    Algorithm, AnyAlgorithm, Charge, Charges, Decision, FixedWindow, Key, LeakyBucket, Limit, ManualClock, Operation,
    Quota, Receipt, SlidingCounter, SlidingLog, Store, TierDecision, TokenBucket,
};

use crate::apply;

/// One limit: charges.
const BEHAVIOUR: &str = include_str!("../vectors/behaviour.json");
/// One limit: refunds and settlements of earlier charges, and changes of the quota.
const OPERATIONS: &str = include_str!("../vectors/operations.json");
/// Several limits.
const TIERS: &str = include_str!("../vectors/tiers.json");

/// Applies the operations of every vector, and compares the decisions to the microsecond.
///
/// # Panics
/// If a decision differs.
pub async fn vectors<St: Store>(fresh: &impl Fn(ManualClock) -> St) {
    for vector in [BEHAVIOUR, OPERATIONS].into_iter().flat_map(parse) {
        one_limit(fresh, &vector).await;
    }
    for vector in parse(TIERS) {
        several_limits(fresh, &vector).await;
    }
}

fn parse(json: &str) -> Vec<Value> {
    serde_json::from_str(json).expect("valid vectors")
}

async fn one_limit<St: Store>(fresh: &impl Fn(ManualClock) -> St, vector: &Value) {
    let clock = ManualClock::at(0);
    let store = fresh(clock.clone());
    let mut algorithm = algorithm(&vector["rule"]);
    let mut receipts: Vec<Option<Receipt>> = Vec::new();
    for (index, step) in steps(vector).iter().enumerate() {
        let mut receipt = None;
        if step["rule"].is_object() {
            algorithm = self::algorithm(&step["rule"]);
        } else {
            clock.set(number(step, "at_us"));
            let operation = operation(step, algorithm, &mut receipts);
            let mut decision = apply(&store, operation).await;
            compare(&decision.tiers()[0], step, &format!("{}, step {index}", vector["name"]));
            receipt = decision.take_receipt();
        }
        receipts.push(receipt);
    }
}

fn operation(step: &Value, algorithm: AnyAlgorithm, receipts: &mut [Option<Receipt>]) -> Operation {
    let earlier = step["refund"].as_u64().or(step["settle"].as_u64());
    match earlier.map(|step| receipts[step as usize].take()) {
        None => Operation::Acquire(charge(algorithm, 0, number(step, "cost")).into()),
        // A receipt can be used once: a second refund is a peek.
        Some(None) => Operation::Acquire(charge(algorithm, 0, 0).into()),
        Some(Some(mut receipt)) => {
            receipt.update(&Limit::new("tier0", algorithm));
            match step["to"].as_u64() {
                None => Operation::Refund(receipt),
                Some(to) => Operation::Settle(receipt.settled(to)),
            }
        }
    }
}

async fn several_limits<St: Store>(fresh: &impl Fn(ManualClock) -> St, vector: &Value) {
    let clock = ManualClock::at(0);
    let store = fresh(clock.clone());
    for (index, step) in steps(vector).iter().enumerate() {
        let context = format!("{}, step {index}", vector["name"]);
        let mut charges = Charges::new();
        for (tier, json) in array(vector, "tiers").iter().enumerate() {
            let charge = charge(algorithm(json), tier, number(step, "cost"));
            charges.push(charge).expect("limits with different names");
        }
        clock.set(number(step, "at_us"));
        let decision = apply(&store, Operation::Acquire(charges)).await;
        compare_all(&decision, step, &context);
    }
}

fn compare_all(decision: &Decision, step: &Value, context: &str) {
    assert_eq!(Value::from(decision.admits()), step["admitted"], "{context}");
    if let Some(delay) = step["delay_us"].as_u64() {
        assert_eq!(decision.delay().as_micros(), delay.into(), "{context}");
    }
    let expected = array(step, "tiers");
    assert_eq!(decision.tiers().len(), expected.len(), "{context}");
    for (tier, expected) in decision.tiers().iter().zip(expected) {
        compare(tier, expected, context);
    }
}

/// Compares a tier's verdict with the fields of a step.
fn compare(tier: &TierDecision, expected: &Value, context: &str) {
    let verdict = tier.verdict();
    let micros = |duration: Duration| duration.as_micros() as u64;
    for (field, expected) in expected.as_object().expect("an object") {
        let actual = match field.as_str() {
            "outcome" => Value::from(verdict.outcome().name()),
            "remaining" => Value::from(verdict.remaining()),
            "retry_after_us" => Value::from(verdict.retry_after().map(micros)),
            "reset_after_us" => Value::from(micros(verdict.reset_after())),
            "delay_us" => Value::from(micros(verdict.delay())),
            "at_us" | "cost" | "refund" | "settle" | "to" => continue,
            other => panic!("{context}: no such field: {other}"),
        };
        assert_eq!(actual, *expected, "{context}: {field}");
    }
}

fn charge(algorithm: AnyAlgorithm, tier: usize, cost: u64) -> Charge {
    Charge::new(Limit::new(&format!("tier{tier}"), algorithm), Key::new("key")).with_cost(cost as u32)
}

/// An algorithm from the JSON of a vector.
fn algorithm(json: &Value) -> AnyAlgorithm {
    let limit = number(json, "limit") as u32;
    let quota = Quota::new(limit, Duration::from_micros(number(json, "window_us")));
    let capacity = json["capacity"].as_u64().map_or(limit, |capacity| capacity as u32);
    let is = |field: &str| json[field].as_bool() == Some(true);
    match json["algorithm"].as_str() {
        Some("token_bucket") => TokenBucket::new(quota).capacity(capacity).to_any(),
        Some("leaky_bucket") => {
            let bucket = LeakyBucket::new(quota).capacity(capacity);
            let bucket = if is("queue") { bucket } else { bucket.policing() };
            match json["max_wait_us"].as_u64() {
                Some(max_wait) => bucket.max_wait(Duration::from_micros(max_wait)).to_any(),
                None => bucket.to_any(),
            }
        }
        Some("fixed_window") if is("anchored") => FixedWindow::new(quota).anchored().to_any(),
        Some("fixed_window") => FixedWindow::new(quota).to_any(),
        Some("sliding_log") => SlidingLog::new(quota).to_any(),
        Some("sliding_counter") => SlidingCounter::new(quota)
            .sub_windows(number(json, "sub_windows") as u32)
            .to_any(),
        other => panic!("no algorithm {other:?}"),
    }
}

fn number(json: &Value, field: &str) -> u64 {
    json[field]
        .as_u64()
        .unwrap_or_else(|| panic!("{field} is no number in {json}"))
}

fn array<'a>(json: &'a Value, field: &str) -> &'a [Value] {
    json[field]
        .as_array()
        .unwrap_or_else(|| panic!("{field} is no array in {json}"))
}

fn steps(vector: &Value) -> &[Value] {
    array(vector, "steps")
}
