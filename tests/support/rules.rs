//! Rules: every algorithm of one quota, and those that the vectors spell.

use std::time::Duration;

use serde_json::Value;
use tollgate::{Algorithm, FixedWindow, LeakyBucket, Quota, Rule, SlidingCounter, SlidingLog, TokenBucket};

/// Every algorithm, and every way of each.
pub fn each_algorithm(quota: Quota) -> [Rule; 7] {
    [
        TokenBucket::new(quota).rule(),
        LeakyBucket::new(quota).rule(),
        LeakyBucket::new(quota).policing().rule(),
        FixedWindow::new(quota).rule(),
        FixedWindow::new(quota).anchored().rule(),
        SlidingLog::new(quota).rule(),
        SlidingCounter::new(quota).buckets(6).rule(),
    ]
}

pub fn rule(json: &Value) -> Rule {
    let number = |field: &str| json[field].as_u64();
    let limit = number("limit").unwrap() as u32;
    let quota = Quota::new(limit, Duration::from_micros(number("window_us").unwrap()));
    let capacity = number("capacity").map_or(limit, |capacity| capacity as u32);
    let is = |field: &str| json[field].as_bool() == Some(true);
    match json["algorithm"].as_str().unwrap() {
        "token_bucket" => TokenBucket::new(quota).capacity(capacity).rule(),
        "leaky_bucket" => {
            let bucket = LeakyBucket::new(quota).capacity(capacity);
            let bucket = if is("queue") { bucket } else { bucket.policing() };
            match number("max_wait_us") {
                Some(max_wait) => bucket.max_wait(Duration::from_micros(max_wait)).rule(),
                None => bucket.rule(),
            }
        }
        "fixed_window" if is("anchored") => FixedWindow::new(quota).anchored().rule(),
        "fixed_window" => FixedWindow::new(quota).rule(),
        "sliding_log" => SlidingLog::new(quota).rule(),
        "sliding_counter" => SlidingCounter::new(quota)
            .buckets(number("buckets").unwrap() as u32)
            .rule(),
        other => panic!("no algorithm {other}"),
    }
}
