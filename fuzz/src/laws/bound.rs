//! The upper bound of each algorithm's admissions, for the tests in tests/laws/ too.

use tollgate::{AnyAlgorithm, Micros};

/// Asserts that no time span contains more of these admissions, with time and cost, than the algorithm's bound.
pub fn assert_within_bound(algorithm: &AnyAlgorithm, admitted: &[(Micros, u64)]) {
    let quota = algorithm.quota().unwrap();
    let (limit, window) = (u128::from(quota.limit()), quota.window().as_micros());
    for (first, &(from, _)) in admitted.iter().enumerate() {
        let mut sum = 0;
        for &(at, cost) in &admitted[first..] {
            let span = u128::from(at - from);
            sum += u128::from(cost);
            let bound = match algorithm {
                AnyAlgorithm::TokenBucket(_) | AnyAlgorithm::LeakyBucket(_) => {
                    u128::from(algorithm.capacity()) + span * limit / window
                }
                _ if span >= window => break,
                AnyAlgorithm::SlidingLog(_) => limit,
                _ => 2 * limit,
            };
            assert!(sum <= bound, "{sum} admitted in {span} us, {bound} allowed");
        }
    }
}
