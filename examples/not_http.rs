//! Services other than HTTP: jobs of several tenants, at most two a minute each, and evenly spaced calls to a backend that cannot
//! take bursts.
//!
//! Run it with `cargo run --example not_http`. It takes two seconds, because the calls are delayed.

use std::time::{Duration, Instant};

use tollgate::{AsError, Global, Key, MemoryStore, Quota, RateLimitLayer, Rejection, SlidingLog, Tier};
use tower::{BoxError, ServiceBuilder, ServiceExt, service_fn};

#[derive(Clone, Debug)]
struct Job {
    tenant: &'static str,
    work: u32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let store = MemoryStore::new();

    // A rejection is returned as an error.
    let by_tenant = |job: &Job| Key::named("tenant", job.tenant);
    let two_per_minute = SlidingLog::new(Quota::per_minute(2));
    let jobs = ServiceBuilder::new()
        .layer(RateLimitLayer::new(Tier::new("jobs", two_per_minute, by_tenant), store.clone()).respond_with(AsError))
        .service(service_fn(async |job: Job| Ok::<_, BoxError>(job.work * 2)));
    for job in [("acme", 1), ("acme", 2), ("acme", 3), ("initech", 4)] {
        let (tenant, work) = job;
        match jobs.clone().oneshot(Job { tenant, work }).await {
            Ok(done) => println!("{tenant}: {work} became {done}"),
            Err(error) => match error.downcast_ref() {
                Some(rejection @ Rejection::Limited(_)) => println!("{tenant}: {rejection}"),
                _ => return Err(error),
            },
        }
    }

    // The queue delays calls to two per second, and denies only when it is full.
    let queue = RateLimitLayer::leaky_bucket("calls", Quota::new(10, Duration::from_secs(5)), Global, store);
    let calls = ServiceBuilder::new()
        .layer(queue.respond_with(AsError))
        .service(service_fn(async |call: u32| Ok::<_, BoxError>(call)));
    let start = Instant::now();
    let delayed = (1..=5).map(|call| tokio::spawn(calls.clone().oneshot(call)));
    for call in delayed.collect::<Vec<_>>() {
        let call = call.await??;
        println!("call {call} ran after {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}
