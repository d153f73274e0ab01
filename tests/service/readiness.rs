//! `poll_ready` returns the inner service's readiness, and only the instance that was polled ready is called.

use std::task::Poll;

use tollgate::{AsError, FixedWindow, Global, Quota, RateLimitLayer, Tier};

use crate::service::{arrived, call, poll, poll_ready, store_at_zero, wrap};

#[test]
fn ready_when_the_inner_service_is_ready() {
    let (store, _) = store_at_zero();
    let plenty = FixedWindow::new(Quota::per_minute(100));
    let layer = RateLimitLayer::new(Tier::new("name", plenty, Global), store.clone()).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);

    outside.allow(0);
    assert!(poll_ready(&mut service).is_pending());
    assert!(poll_ready(&mut service).is_pending());
    outside.allow(1);
    assert!(matches!(poll_ready(&mut service), Poll::Ready(Ok(()))));
    // `poll_ready` charges nothing.
    assert!(store.is_empty());

    outside.send_error("broken");
    let Poll::Ready(Err(error)) = poll_ready(&mut service) else {
        panic!("an error of the inner service is passed on")
    };
    assert_eq!(error.to_string(), "broken");
}

/// The mock panics when an instance is called that was not polled ready, and a clone starts unready.
#[test]
fn the_instance_polled_ready_is_called() {
    let (store, _) = store_at_zero();
    let plenty = FixedWindow::new(Quota::per_minute(100));
    let layer = RateLimitLayer::new(Tier::new("name", plenty, Global), store).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    for request in ["first", "second", "third"] {
        outside.allow(1);
        let mut response = call(&mut service, request);
        assert!(poll(response.as_mut()).is_pending());
        // The request took the ready instance, so the clone that remains has to be polled ready again.
        assert!(poll_ready(&mut service).is_pending());
        assert_eq!(arrived(&mut outside), Some(request));
        assert!(matches!(poll(response.as_mut()), Poll::Ready(Ok("served"))));
    }
}

#[test]
fn a_rejection_releases_the_ready_instance() {
    let (store, _) = store_at_zero();
    let layer =
        RateLimitLayer::new(Tier::new("name", crate::service::once_a_minute(), Global), store).respond_with(AsError);
    let (inner, mut outside) = tower_test::mock::pair();
    outside.allow(9);
    let inner = tower::limit::ConcurrencyLimit::new(inner, 1);
    let mut service = tower::Layer::layer(&layer, inner);
    let mut first = call(&mut service, "first");
    assert!(poll(first.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("first"));
    assert!(poll(first.as_mut()).is_ready());
    drop(first);

    let mut rejected = call(&mut service, "rejected");
    assert!(matches!(poll(rejected.as_mut()), Poll::Ready(Err(_))));
    // The rejected future still exists, but the permit is free.
    let mut other = service.clone();
    assert!(matches!(poll_ready(&mut other), Poll::Ready(Ok(()))));
}
