//! Every algorithm with one quota.

use std::collections::HashSet;

use tollgate::{Algorithm, AnyAlgorithm, FixedWindow, LeakyBucket, Quota, SlidingCounter, SlidingLog, TokenBucket};

/// Every algorithm that has a quota, in each of its variants.
pub fn each_algorithm(quota: Quota) -> [AnyAlgorithm; 7] {
    [
        TokenBucket::new(quota).to_any(),
        LeakyBucket::new(quota).to_any(),
        LeakyBucket::new(quota).policing().to_any(),
        FixedWindow::new(quota).to_any(),
        FixedWindow::new(quota).anchored().to_any(),
        SlidingLog::new(quota).to_any(),
        SlidingCounter::new(quota).sub_windows(6).to_any(),
    ]
}

/// Asserts that a list has the name of every algorithm that has a quota, so that its test does not skip a new one.
#[track_caller]
pub fn assert_has_each_algorithm<'a>(names: impl IntoIterator<Item = &'a str>) {
    let names: HashSet<&str> = names.into_iter().collect();
    for algorithm in each_algorithm(Quota::per_minute(1)) {
        let name = algorithm.name();
        assert!(names.contains(name), "{name} is missing");
    }
}

/// The algorithm's name in a rule of the Lua script.
pub fn name_in_rule(rule: &str) -> &str {
    rule.split(' ').next().unwrap()
}
