//! What a decision in memory takes from the heap: nothing, once the store knows the key. Metrics are compiled in and decisions
//! are spans, and nobody listens to either.

use std::{
    convert::Infallible,
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
};

use allocation_counter::measure;
use tollgate::{
    Algorithm, Charge, FixedWindow, Global, Key, LeakyBucket, Limit, MemoryStore, Operation, Quota, RateLimitLayer,
    Rejection, Rule, SlidingCounter, Store, TokenBucket,
};
use tower::{Layer, Service, service_fn};

const QUOTA: Quota = Quota::per_minute(100);

/// All that do not remember every request.
fn rules() -> [Rule; 4] {
    [
        TokenBucket::new(QUOTA).rule(),
        LeakyBucket::new(QUOTA).rule(),
        FixedWindow::new(QUOTA).rule(),
        SlidingCounter::new(QUOTA).rule(),
    ]
}

#[test]
fn a_known_key_is_charged_without_any() {
    for rule in rules() {
        let store = MemoryStore::new();
        let (limit, key) = (Limit::new("user", rule), Key::named("user", 12345));
        store.acquire(&limit, &key, 1);
        let acquired = measure(|| {
            black_box(store.acquire(&limit, &key, 1));
        });
        assert_eq!(acquired.count_total, 0, "{}", rule.name());

        let charge = Charge::new(limit, key);
        let applied = measure(|| drop(store.apply(Operation::Acquire(charge.into()))));
        assert_eq!(applied.count_total, 0, "{}", rule.name());
    }
}

#[test]
fn a_request_passes_the_layer_without_any() {
    let layer = RateLimitLayer::token_bucket("all", QUOTA, Global, MemoryStore::new())
        .respond_with(|why: Rejection| panic!("{why}"));
    let mut service = layer.layer(service_fn(async |request: u32| Ok::<_, Infallible>(request)));
    let mut serve = |request| {
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(
            Service::<u32>::poll_ready(&mut service, &mut context),
            Poll::Ready(Ok(()))
        ));
        assert!(matches!(pin!(service.call(request)).poll(&mut context), Poll::Ready(Ok(answer)) if answer == request));
    };
    serve(1);
    assert_eq!(measure(|| serve(2)).count_total, 0);
}
