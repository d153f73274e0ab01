//! Tests of `sliding_log`.

use super::*;

#[test]
fn a_log_releases_memory_after_a_burst() {
    let log = SlidingLog::new(Quota::per_second(MAX_LIMIT));
    let mut state = SlidingLogState::default();
    log.commit(&mut state, 0, MAX_LIMIT);
    log.commit(&mut state, 1_000_000, 3);
    assert_eq!(state.entries, [1_000_000; 3]);
    assert!(state.entries.capacity() <= 64);
}
