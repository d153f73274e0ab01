//! Every algorithm with one quota.

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
        SlidingCounter::new(quota).sub_windows(6).to_any(),
    ]
}
