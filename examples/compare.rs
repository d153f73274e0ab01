//! The same twenty requests through five algorithms: ten just before a minute ends, ten just after it.
//!
//! Run it with `cargo run --example compare`: it goes by a clock of its own, so it takes no time. With
//! `REDIS_URL=redis://127.0.0.1:6379 cargo run --example compare` the limits are kept in that Redis, and the answers
//! are the same.

use std::{error::Error, process::ExitCode, time::Duration};

use tollgate::{
    Algorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, ManualClock, MemoryStore, Operation, Quota, Rule,
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
                // No client waits here: a busy Redis is no reason to end without an answer.
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
    let rules: [Rule; 5] = [
        TokenBucket::new(quota).rule(),
        LeakyBucket::new(quota).rule(),
        FixedWindow::new(quota).rule(),
        SlidingLog::new(quota).rule(),
        SlidingCounter::new(quota).rule(),
    ];
    println!("ten a minute; ten requests at 0:59, ten at 1:01\n");
    println!(
        "{:16} {:>7} {:>7}   what the last one was told",
        "algorithm", "at 0:59", "at 1:01"
    );
    for rule in rules {
        let limit = Limit::new("compare", rule);
        let charge = Charge::new(limit, Key::GLOBAL);
        store
            .apply(Operation::Reset(charge.clone().into()))
            .await
            .map_err(Into::into)?;
        let mut passed = [0; 2];
        let mut told = String::new();
        for (burst, second) in [59, 61].into_iter().enumerate() {
            clock.set(second * 1_000_000);
            for _ in 0..10 {
                let decision = store
                    .apply(Operation::Acquire(charge.clone().into()))
                    .await
                    .map_err(Into::into)?;
                passed[burst] += u32::from(decision.admits());
                told = match decision.retry_after() {
                    Some(wait) => format!("come back in {wait:?}"),
                    None if decision.delay() > Duration::ZERO => format!("wait for {:?}", decision.delay()),
                    None => "go ahead".into(),
                };
            }
        }
        println!("{:16} {:>7} {:>7}   {told}", rule.name(), passed[0], passed[1]);
        store.apply(Operation::Reset(charge.into())).await.map_err(Into::into)?;
    }
    Ok(())
}
