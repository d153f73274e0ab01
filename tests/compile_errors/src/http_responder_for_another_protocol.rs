use tollgate::{Global, MemoryStore, Quota, RateLimitLayer};
use tower::{BoxError, Service, ServiceBuilder, service_fn};

fn run(_: impl Service<u32>) {}

fn main() {
    let jobs = ServiceBuilder::new()
        .layer(RateLimitLayer::fixed_window(
            "jobs",
            Quota::per_hour(1),
            Global,
            MemoryStore::new(),
        ))
        .service(service_fn(async |job: u32| Ok::<_, BoxError>(job)));
    run(jobs);
}
