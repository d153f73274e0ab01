//! The same twenty requests through five algorithms: ten just before a minute ends, ten just after it.
//!
//! Run it with `cargo run --example compare`: it uses a manual clock, so it takes no time. With
//! `REDIS_URL=redis://127.0.0.1:6379 cargo run --example compare` the limits are stored in that Redis, with the same
//! results.

use std::{error::Error, process::ExitCode, time::Duration};

use tollgate::{
    Algorithm, AnyAlgorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, ManualClock, MemoryStore, Operation, Quota,
    SlidingCounter, SlidingLog, Store, TokenBucket,
};

type AnyError = Box<dyn Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), AnyError> {
    let clock = ManualClock::at(0);
    match std::env::var("REDIS_URL") {
        #[cfg(feature = "redis")]
        Ok(url) => {
            let store = tollgate::RedisStore::builder()
                .url(&url)
                .prefix("compare")
                .clock(clock.clone())
                // No client waits here, so a busy Redis should not cause an error.
                .deadline(Duration::from_secs(30))
                .build()?;
            store.check().await?;
            compare(&store, &clock).await
        }
        #[cfg(not(feature = "redis"))]
        Ok(_) => Err("REDIS_URL needs the feature `redis`".into()),
        Err(_) => compare(&MemoryStore::builder().clock(clock.clone()).build(), &clock).await,
    }
}

async fn compare<S: Store>(store: &S, clock: &ManualClock) -> Result<(), AnyError> {
    let quota = Quota::per_minute(10);
    let algorithms: [AnyAlgorithm; 5] = [
        TokenBucket::new(quota).to_any(),
        LeakyBucket::new(quota).to_any(),
        FixedWindow::new(quota).to_any(),
        SlidingLog::new(quota).to_any(),
        SlidingCounter::new(quota).to_any(),
    ];
    println!("ten per minute; ten requests at 0:59, ten at 1:01\n");
    println!(
        "{:16} {:>7} {:>7}   result of the last request",
        "algorithm", "at 0:59", "at 1:01"
    );
    for algorithm in algorithms {
        let limit = Limit::new("compare", algorithm);
        let charge = Charge::new(limit, Key::GLOBAL);
        store
            .apply(Operation::Reset(charge.clone().into()))
            .await
            .map_err(Into::into)?;
        let mut admitted = [0; 2];
        let mut result = String::new();
        for (burst, second) in [59, 61].into_iter().enumerate() {
            clock.set(second * 1_000_000);
            for _ in 0..10 {
                let decision = store
                    .apply(Operation::Acquire(charge.clone().into()))
                    .await
                    .map_err(Into::into)?;
                admitted[burst] += u32::from(decision.admits());
                result = match decision.retry_after() {
                    Some(wait) => format!("retry after {wait:?}"),
                    None if decision.delay() > Duration::ZERO => format!("admitted after {:?}", decision.delay()),
                    None => "admitted".into(),
                };
            }
        }
        println!(
            "{:16} {:>7} {:>7}   {result}",
            algorithm.name(),
            admitted[0],
            admitted[1]
        );
        store.apply(Operation::Reset(charge.into())).await.map_err(Into::into)?;
    }
    Ok(())
}
