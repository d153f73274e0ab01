//! Work on several runtimes.

use tokio::{
    runtime::{Builder, Runtime},
    time::{sleep, timeout},
};

use super::*;

fn runtime(is_paused: bool) -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().start_paused(is_paused);
    builder.build().expect("a runtime")
}

#[test]
fn work_on_a_runtime_that_stands_still_is_started_again() {
    let connecting = SingleFlight::default();
    let stands_still = runtime(false);
    stands_still.block_on(async { connecting.join(async { Ok(()) }) });
    runtime(true).block_on(async {
        let second = Duration::from_secs(1);
        assert!(timeout(second, connecting.join(async { Ok(()) }).wait()).await.is_err());
        sleep(MAX_TIME).await;
        let done = timeout(second, connecting.join(async { Ok(()) }).wait()).await;
        assert!(done.is_ok_and(|done| done.is_ok()));
    });
    drop(stands_still);
}
