//! Work on several runtimes.

use tokio::{
    runtime::Builder,
    time::{sleep, timeout},
};

use super::*;

#[test]
fn work_on_a_runtime_that_stands_still_is_started_again() {
    let connecting = SingleFlight::default();
    let stands_still = Builder::new_current_thread().enable_time().build().unwrap();
    stands_still.block_on(async { connecting.join(async { Ok(()) }) });
    // Its clock stands still from here on, except in sleeps.
    let running = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    running.block_on(async {
        let second = Duration::from_secs(1);
        assert!(timeout(second, connecting.join(async { Ok(()) }).wait()).await.is_err());
        sleep(MAX_WORK_TIME).await;
        let done = timeout(second, connecting.join(async { Ok(()) }).wait()).await;
        assert!(done.is_ok_and(|done| done.is_ok()));
    });
    drop(stands_still);
}
