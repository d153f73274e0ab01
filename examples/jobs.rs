//! Jobs of several tenants, without a service or HTTP: workers wait, a failed job is refunded, and an admin peeks and resets.
//!
//! Run it with `cargo run --example jobs`. It takes about a second, because the workers wait.

use std::time::{Duration, Instant};

use tollgate::{CallKey, FixedWindow, Global, Key, Limiter, MemoryStore, Quota, Tier};
use tower::BoxError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let per_day = |limit| FixedWindow::new(Quota::per_day(limit)).anchored();
    // Per tenant, a burst of two jobs and then one every half second, and five a day; for all tenants together, a thousand a day.
    let jobs = Limiter::token_bucket("jobs", Quota::per_second(2), MemoryStore::new())
        .tier(Tier::new("jobs.daily", per_day(5), CallKey))
        .tier(Tier::new("jobs.all", per_day(1000), Global));
    let acme = Key::named("tenant", "acme");

    // Four concurrent workers. Two of them wait, in order of arrival.
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

    // The last job failed, so its charge is refunded in every tier.
    let receipt = last.and_then(|mut decision| decision.take_receipt());
    let decision = jobs.refund(receipt.expect("the job was admitted")).await?;
    println!(
        "job 4 failed: {} remaining today",
        decision.tiers()[1].verdict().remaining()
    );

    // A cost of two is admitted completely or not at all. Then the daily limit is exhausted, for longer than a worker waits.
    let decision = jobs.wait_n(&acme, 2, Duration::from_secs(10)).await?;
    println!("jobs 5 and 6: {}", decision.outcome());
    let decision = jobs.wait(&acme, Duration::from_secs(10)).await?;
    let hours = decision.retry_after().map(|wait| wait.as_secs().div_ceil(60 * 60));
    println!(
        "job 7: {}, retry after {} hours",
        decision.outcome(),
        hours.unwrap_or(0)
    );

    // The admin peeks, which costs nothing, and resets the tenant. The shared tier is not reset.
    let remaining = async || {
        let decision = jobs.peek(&acme).await?;
        let tiers = decision.tiers()[1..].iter();
        let tiers = tiers.map(|tier| format!("{} {}", tier.limit().name(), tier.verdict().remaining()));
        Ok::<_, BoxError>(tiers.collect::<Vec<_>>().join(", "))
    };
    println!("remaining for {acme}: {}", remaining().await?);
    jobs.reset(&acme).await?;
    println!("remaining after a reset: {}", remaining().await?);
    Ok(())
}
