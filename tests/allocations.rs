//! A decision of the memory store does not allocate once the store has the key. Metrics are compiled in and decisions have
//! spans, but there is neither a recorder nor a subscriber.

use std::{
    convert::Infallible,
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
};

use allocation_counter::measure;
use tollgate::{
    Algorithm, AnyAlgorithm, Charge, FixedWindow, Global, Key, LeakyBucket, Limit, MemoryStore, Operation, Quota,
    RateLimitLayer, Rejection, SlidingCounter, Store, TokenBucket,
};
use tower::{Layer, Service, service_fn};

const QUOTA: Quota = Quota::per_minute(100);

/// Every algorithm whose state has a constant size.
fn constant_size_algorithms() -> [AnyAlgorithm; 4] {
    [
        TokenBucket::new(QUOTA).to_any(),
        LeakyBucket::new(QUOTA).to_any(),
        FixedWindow::new(QUOTA).to_any(),
        SlidingCounter::new(QUOTA).to_any(),
    ]
}

#[test]
fn charging_a_known_key_does_not_allocate() {
    for algorithm in constant_size_algorithms() {
        let store = MemoryStore::new();
        let (limit, key) = (Limit::new("user", algorithm), Key::named("user", 12345));
        store.acquire(&limit, &key, 1);
        let acquired = measure(|| {
            black_box(store.acquire(&limit, &key, 1));
        });
        assert_eq!(acquired.count_total, 0, "{}", algorithm.name());

        let charge = Charge::new(limit, key);
        let applied = measure(|| drop(store.apply(Operation::Acquire(charge.into()))));
        assert_eq!(applied.count_total, 0, "{}", algorithm.name());
    }
}

#[test]
fn passing_the_layer_does_not_allocate() {
    let layer = RateLimitLayer::token_bucket("all", QUOTA, Global, MemoryStore::new())
        .respond_with(|why: Rejection| panic!("{why}"));
    let mut service = layer.layer(service_fn(async |request: u32| Ok::<_, Infallible>(request)));
    let mut serve = |request| {
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(
            Service::<u32>::poll_ready(&mut service, &mut context),
            Poll::Ready(Ok(()))
        ));
        assert!(
            matches!(pin!(service.call(request)).poll(&mut context), Poll::Ready(Ok(response)) if response == request)
        );
    };
    serve(1);
    assert_eq!(measure(|| serve(2)).count_total, 0);
}
