//! Probes on several runtimes.

use tokio::runtime::Builder;

use super::*;

/// The task that a runtime has started runs only while the runtime does.
#[test]
fn a_probe_on_a_runtime_that_stands_still_is_replaced() {
    let breaker = CircuitBreaker::new("redis", Box::new(|| Box::pin(async { Some(Ok(())) })));
    let why = StoreError::timeout(&"redis".into(), Duration::from_millis(100), true);
    let stands_still = Builder::new_current_thread().enable_time().build().unwrap();
    stands_still.block_on(async { (0..FAILURE_THRESHOLD).for_each(|_| breaker.on_failure(&why)) });
    // Its clock stands still from here on, except in sleeps.
    let running = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    running.block_on(async {
        assert!(breaker.check(1).is_err());
        sleep(MAX_PROBE_TIME).await;
        assert!(breaker.check(1).is_err());
        sleep(PROBE_INTERVAL + Duration::from_millis(1)).await;
        assert!(breaker.check(1).is_ok());
    });
    drop(stands_still);
}
