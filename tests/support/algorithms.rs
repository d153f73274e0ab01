//! Every algorithm with one quota, and algorithms from the JSON of the vectors.

use std::time::Duration;

use serde_json::Value;
use tollgate::{Algorithm, AnyAlgorithm, FixedWindow, LeakyBucket, Quota, SlidingCounter, SlidingLog, TokenBucket};

/// Every algorithm in each of its variants.
pub fn each_algorithm(quota: Quota) -> [AnyAlgorithm; 7] {
    [
        TokenBucket::new(quota).to_any(),
        LeakyBucket::new(quota).to_any(),
        LeakyBucket::new(quota).policing().to_any(),
        FixedWindow::new(quota).to_any(),
        FixedWindow::new(quota).anchored().to_any(),
        SlidingLog::new(quota).to_any(),
        SlidingCounter::new(quota).buckets(6).to_any(),
    ]
}

pub fn from_json(json: &Value) -> AnyAlgorithm {
    let number = |field: &str| json[field].as_u64();
    let limit = number("limit").unwrap() as u32;
    let quota = Quota::new(limit, Duration::from_micros(number("window_us").unwrap()));
    let capacity = number("capacity").map_or(limit, |capacity| capacity as u32);
    let is = |field: &str| json[field].as_bool() == Some(true);
    match json["algorithm"].as_str().unwrap() {
        "token_bucket" => TokenBucket::new(quota).capacity(capacity).to_any(),
        "leaky_bucket" => {
            let bucket = LeakyBucket::new(quota).capacity(capacity);
            let bucket = if is("queue") { bucket } else { bucket.policing() };
            match number("max_wait_us") {
                Some(max_wait) => bucket.max_wait(Duration::from_micros(max_wait)).to_any(),
                None => bucket.to_any(),
            }
        }
        "fixed_window" if is("anchored") => FixedWindow::new(quota).anchored().to_any(),
        "fixed_window" => FixedWindow::new(quota).to_any(),
        "sliding_log" => SlidingLog::new(quota).to_any(),
        "sliding_counter" => SlidingCounter::new(quota)
            .buckets(number("buckets").unwrap() as u32)
            .to_any(),
        other => panic!("no algorithm {other}"),
    }
}
