//! `pass [prometheus] COUNT` sends `COUNT` requests through a layer on a memory store, and prints the nanoseconds per request. With
//! `prometheus`, a Prometheus recorder is installed.

use std::{
    convert::Infallible,
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Instant,
};

use metrics_exporter_prometheus::PrometheusBuilder;
use tollgate::{Key, ManualClock, MemoryStore, Quota, RateLimitLayer, Rejection, Tier, TokenBucket};
use tower::{Layer, Service, service_fn};

/// Few enough to fit into the CPU caches.
const CLIENTS: u32 = 1000;

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if_eq("prometheus").is_some() {
        PrometheusBuilder::new()
            .install_recorder()
            .expect("no other recorder is installed");
    }
    let count = arguments.next().and_then(|count| count.parse().ok());
    let count: u32 = count.expect("pass [prometheus] COUNT");
    let never_denies = TokenBucket::with_capacity(Quota::per_second(1), 1_000_000_000);
    let client = |client: &u32| Key::named("client", client);
    // The clock stands still, so that every run is the same.
    let store = MemoryStore::builder().clock(ManualClock::at(0)).build();
    let layer = RateLimitLayer::new(Tier::new("client", never_denies, client), store)
        .respond_with(|rejection: Rejection| panic!("{rejection}"));
    let mut service = layer.layer(service_fn(async |client: u32| Ok::<_, Infallible>(client)));
    let mut context = Context::from_waker(Waker::noop());
    let mut pass = |client| {
        let served = pin!(service.call(black_box(client))).poll(&mut context);
        assert!(matches!(black_box(served), Poll::Ready(Ok(served)) if served == client));
    };
    (0..CLIENTS).for_each(&mut pass);
    let start = Instant::now();
    (0..count).for_each(|request| pass(request % CLIENTS));
    println!("{}", start.elapsed().as_nanos() as f64 / f64::from(count));
}
