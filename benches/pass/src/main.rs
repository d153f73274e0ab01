//! `pass [prometheus] COUNT` passes that many requests through a layer on a memory store, and prints the nanoseconds that each
//! took: with a recorder for Prometheus if it is told to, else with nobody who is told anything.

use std::{
    convert::Infallible,
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Instant,
};

use metrics_exporter_prometheus::PrometheusBuilder;
use tollgate::{Key, ManualClock, MemoryStore, Quota, RateLimitLayer, Rejection, TokenBucket};
use tower::{Layer, Service, service_fn};

/// How many clients there are: few enough to be at hand, and each may do what none of them does.
const CLIENTS: u32 = 1000;

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if_eq("prometheus").is_some() {
        PrometheusBuilder::new().install_recorder().expect("there is no other");
    }
    let count = arguments.next().and_then(|count| count.parse().ok());
    let count: u32 = count.expect("pass [prometheus] COUNT");
    let never_refuses = TokenBucket::with_capacity(Quota::per_second(1), 1_000_000_000);
    let client = |client: &u32| Key::named("client", client);
    // A clock that stands still, so that every run is the same.
    let store = MemoryStore::builder().clock(ManualClock::at(0)).build();
    let layer =
        RateLimitLayer::new("client", never_refuses, client, store).respond_with(|why: Rejection| panic!("{why}"));
    let mut service = layer.layer(service_fn(async |client: u32| Ok::<_, Infallible>(client)));
    let mut context = Context::from_waker(Waker::noop());
    let mut pass = |client| {
        let served = pin!(service.call(black_box(client))).poll(&mut context);
        assert!(matches!(black_box(served), Poll::Ready(Ok(served)) if served == client));
    };
    (0..CLIENTS).for_each(&mut pass);
    let start = Instant::now();
    (0..count).for_each(|turn| pass(turn % CLIENTS));
    println!("{}", start.elapsed().as_nanos() as f64 / f64::from(count));
}
