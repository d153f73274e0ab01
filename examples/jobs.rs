//! Jobs of several tenants, with no service and no HTTP: workers wait for their turn, a job that fails is not counted, and
//! an admin looks and forgives.
//!
//! Run it with `cargo run --example jobs`. It takes about a second, because the workers wait.

use std::time::{Duration, Instant};

use tollgate::{FixedWindow, Key, Limiter, MemoryStore, Quota, TokenBucket};
use tower::BoxError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    // A tenant starts two jobs at once and then one every half second, and five a day; everybody together a thousand a day.
    let jobs = Limiter::new("jobs", TokenBucket::new(Quota::per_second(2)), MemoryStore::new())
        .tier("jobs.daily", FixedWindow::new(Quota::per_day(5)).anchored())
        .shared_tier("jobs.all", FixedWindow::new(Quota::per_day(1000)).anchored());
    let acme = Key::named("tenant", "acme");

    // Four workers at once. Two of them wait, in the order of their coming.
    let start = Instant::now();
    let workers = (1..=4).map(|job| {
        let (jobs, acme) = (jobs.clone(), acme.clone());
        tokio::spawn(async move {
            let decision = jobs.wait(&acme, Duration::from_secs(10)).await?;
            println!("job {job} started after {:.1} s", start.elapsed().as_secs_f64());
            Ok::<_, BoxError>(decision)
        })
    });
    let mut last = None;
    for worker in workers.collect::<Vec<_>>() {
        last = Some(worker.await??);
    }

    // The last one failed, which is not the tenant's fault: what it took is given back, in every tier.
    let receipt = last.and_then(|mut decision| decision.take_receipt());
    let decision = jobs.refund(receipt.expect("it was admitted")).await?;
    println!(
        "job 4 failed: {} are left for today",
        decision.tiers()[1].verdict().remaining()
    );

    // Two at once are started both or neither. Then the day is spent, and no worker waits that long.
    let decision = jobs.wait_n(&acme, 2, Duration::from_secs(10)).await?;
    println!("jobs 5 and 6: {}", decision.outcome());
    let decision = jobs.wait(&acme, Duration::from_secs(10)).await?;
    let hours = decision.retry_after().map(|wait| wait.as_secs().div_ceil(60 * 60));
    println!(
        "job 7: {}, come back in {} hours",
        decision.outcome(),
        hours.unwrap_or(0)
    );

    // The admin looks, which costs nothing, and lets them start afresh. What everybody shares stays counted.
    let left = async || {
        let decision = jobs.peek(&acme).await?;
        let tiers = decision.tiers()[1..].iter();
        let tiers = tiers.map(|tier| format!("{} {}", tier.limit().name(), tier.verdict().remaining()));
        Ok::<_, BoxError>(tiers.collect::<Vec<_>>().join(", "))
    };
    println!("left for {acme}: {}", left().await?);
    jobs.reset(&acme).await?;
    println!("left after a reset: {}", left().await?);
    Ok(())
}
