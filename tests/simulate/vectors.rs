//! Every test vector without refunds, on both stores.

use serde_json::{Value, json};

use super::{Case, limit};
use support::{project::root, redis::RedisServer};

fn cases(file: &str) -> Vec<Value> {
    let path = root().join(format!("conformance/vectors/{file}.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The vectors' limits as a rules file. A leaky bucket without `queue` does not queue.
fn rules<'v>(vectors: impl IntoIterator<Item = &'v Value>) -> String {
    let limits = vectors.into_iter().enumerate().map(|(tier, rule)| {
        let algorithm = rule["algorithm"].as_str().unwrap();
        let mut rest = format!(
            "key = \"global\"\nlimit = {}\nwindow = \"{}us\"",
            rule["limit"], rule["window_us"]
        );
        for field in ["capacity", "anchored", "sub_windows"] {
            if let Some(value) = rule.get(field) {
                rest += &format!("\n{field} = {value}");
            }
        }
        if algorithm == "leaky_bucket" {
            rest += &format!("\nqueue = {}", rule["queue"] == true);
        }
        if let Some(max_wait) = rule.get("max_wait_us") {
            rest += &format!("\nmax_wait = \"{max_wait}us\"");
        }
        limit(&format!("t{tier}"), algorithm, &rest)
    });
    limits.collect()
}

fn trace(case: &Value) -> String {
    let steps = case["steps"].as_array().unwrap().iter();
    let lines = steps.map(|step| json!({ "at_us": step["at_us"], "cost": step["cost"] }).to_string() + "\n");
    lines.collect()
}

/// The answers to a case, the same from both stores.
fn answers(redis: &RedisServer, rules: &str, case: &Value) -> Vec<Value> {
    let files = Case::trace(rules, trace(case));
    let memory = files.run(&[]).success();
    let shared = files.run(&["--store", &redis.url()]).success();
    assert_eq!(memory, shared, "{}", case["name"]);
    memory.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Compares the verdict of a limit with the fields that a step expects.
fn check(verdict: &Value, answer: &Value, expected: &Value, context: &str) {
    for (field, expected) in expected.as_object().unwrap() {
        let actual = match field.as_str() {
            "at_us" | "cost" | "tiers" => continue,
            "delay_us" | "admitted" => &answer[field],
            field => verdict.get(field).unwrap_or_else(|| panic!("{context}: {field}")),
        };
        assert_eq!(actual, expected, "{context}: {field}");
    }
}

#[test]
fn vectors_of_one_limit() {
    let redis = RedisServer::start();
    for case in cases("behaviour") {
        let answers = answers(&redis, &rules([&case["rule"]]), &case);
        let steps = case["steps"].as_array().unwrap();
        assert_eq!(answers.len(), steps.len());
        for (index, (answer, step)) in answers.iter().zip(steps).enumerate() {
            let context = format!("{}, step {index}", case["name"]);
            check(&answer["limits"][0], answer, step, &context);
            assert_eq!(answer["admitted"], step["outcome"] == "admitted", "{context}");
        }
    }
}

#[test]
fn vectors_of_several_limits() {
    let redis = RedisServer::start();
    for case in cases("tiers") {
        let answers = answers(&redis, &rules(case["tiers"].as_array().unwrap()), &case);
        let steps = case["steps"].as_array().unwrap();
        assert_eq!(answers.len(), steps.len());
        for (index, (answer, step)) in answers.iter().zip(steps).enumerate() {
            let context = format!("{}, step {index}", case["name"]);
            check(&Value::Null, answer, step, &context);
            let verdicts = answer["limits"].as_array().unwrap();
            let expected = step["tiers"].as_array().unwrap();
            assert_eq!(verdicts.len(), expected.len(), "{context}");
            for (verdict, expected) in verdicts.iter().zip(expected) {
                check(verdict, answer, expected, &context);
            }
        }
    }
}
