//! Test vectors, on every store.
use serde_json::Value;
use support::{algorithms::from_json, cluster::Cluster, redis::RedisServer, stores::AnyStore};
use tollgate::{AnyAlgorithm, Charge, Charges, Decision, Key, Limit, Operation, Receipt, TierDecision};

fn cases(file: &str) -> Vec<Value> {
    let path = format!("{}/vectors/{file}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs every case of a file on the memory store, on Redis, Valkey and a cluster, each case with separate keys. In the cluster,
/// the keys are on different nodes.
async fn run(file: &str, case: impl AsyncFn(&AnyStore, &Value)) {
    let (servers, cluster) = (RedisServer::each(), Cluster::start());
    for (index, vector) in cases(file).iter().enumerate() {
        case(&AnyStore::memory().0, vector).await;
        for server in &servers {
            case(&AnyStore::redis(server, &format!("case{index}")), vector).await;
        }
        case(&AnyStore::cluster(&cluster, &format!("case{index}")), vector).await;
    }
}

fn charge(algorithm: AnyAlgorithm, tier: usize, cost: u32) -> Charge {
    Charge::new(Limit::new(&format!("tier{tier}"), algorithm), Key::new("key")).cost(cost)
}

/// Compares a tier's verdict with the fields of a step.
fn check(tier: &TierDecision, expected: &Value, context: &str) {
    let verdict = tier.verdict();
    let micros = |duration: std::time::Duration| duration.as_micros() as u64;
    for (field, expected) in expected.as_object().unwrap() {
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

/// One limit: charges, refunds and settles of earlier steps, and changes of the algorithm.
async fn one_limit(store: &AnyStore, vector: &Value) {
    let mut algorithm = from_json(&vector["rule"]);
    let mut receipts: Vec<Option<Receipt>> = Vec::new();
    for (index, step) in vector["steps"].as_array().unwrap().iter().enumerate() {
        let context = format!("{}: {}, step {index}", store.name(), vector["name"]);
        let mut receipt = None;
        if step["rule"].is_object() {
            algorithm = from_json(&step["rule"]);
        } else {
            let mut decision = one_step(store, step, algorithm, &mut receipts).await;
            check(&decision.tiers()[0], step, &context);
            receipt = decision.take_receipt();
        }
        receipts.push(receipt);
    }
}

async fn one_step(
    store: &AnyStore,
    step: &Value,
    algorithm: AnyAlgorithm,
    receipts: &mut [Option<Receipt>],
) -> Decision {
    let now = step["at_us"].as_u64().unwrap();
    let given = step["refund"].as_u64().or(step["settle"].as_u64());
    let operation = match given.map(|step| receipts[step as usize].take()) {
        None => Operation::Acquire(charge(algorithm, 0, step["cost"].as_u64().unwrap() as u32).into()),
        // A receipt can be used once: a second refund is a peek.
        Some(None) => Operation::Acquire(charge(algorithm, 0, 0).into()),
        Some(Some(mut receipt)) => {
            receipt.update(&Limit::new("tier0", algorithm));
            match step["to"].as_u64() {
                None => Operation::Refund(receipt),
                Some(to) => Operation::Settle(receipt.settled(to)),
            }
        }
    };
    store.apply(now, operation).await
}

async fn several_tiers(store: &AnyStore, vector: &Value) {
    for (index, step) in vector["steps"].as_array().unwrap().iter().enumerate() {
        let context = format!("{}: {}, step {index}", store.name(), vector["name"]);
        let mut charges = Charges::new();
        for (tier, json) in vector["tiers"].as_array().unwrap().iter().enumerate() {
            let cost = step["cost"].as_u64().unwrap() as u32;
            charges.push(charge(from_json(json), tier, cost)).unwrap();
        }
        let now = step["at_us"].as_u64().unwrap();
        let decision = store.apply(now, Operation::Acquire(charges)).await;
        assert_eq!(Value::from(decision.admits()), step["admitted"], "{context}");
        if let Some(delay) = step["delay_us"].as_u64() {
            assert_eq!(decision.delay().as_micros(), delay.into(), "{context}");
        }
        let expected = step["tiers"].as_array().unwrap();
        assert_eq!(decision.tiers().len(), expected.len());
        for (tier, expected) in decision.tiers().iter().zip(expected) {
            check(tier, expected, &context);
        }
    }
}

#[tokio::test]
async fn behaviour() {
    run("behaviour", one_limit).await;
}

#[tokio::test]
async fn operations() {
    run("operations", one_limit).await;
}

#[tokio::test]
async fn tiers() {
    run("tiers", several_tiers).await;
}
