//! Readiness is the inner service's, and only the instance that is ready is called.

use std::task::Poll;

use tollgate::{AsError, FixedWindow, Global, Quota, RateLimitLayer};

use crate::service::{arrived, call, poll, poll_ready, still, wrap};

#[test]
fn it_is_ready_when_the_inner_service_is() {
    let (store, _) = still();
    let plenty = FixedWindow::new(Quota::per_minute(100));
    let layer = RateLimitLayer::new("name", plenty, Global, store.clone()).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);

    outside.allow(0);
    assert!(poll_ready(&mut service).is_pending());
    assert!(poll_ready(&mut service).is_pending());
    outside.allow(1);
    assert!(matches!(poll_ready(&mut service), Poll::Ready(Ok(()))));
    // Being asked whether it is ready costs nothing.
    assert!(store.is_empty());

    outside.send_error("broken");
    let Poll::Ready(Err(error)) = poll_ready(&mut service) else {
        panic!("an error of the inner service is passed on")
    };
    assert_eq!(error.to_string(), "broken");
}

/// The mock panics when an instance is called that has not been ready, and a clone of it never is.
#[test]
fn the_instance_that_was_ready_is_the_one_that_is_called() {
    let (store, _) = still();
    let plenty = FixedWindow::new(Quota::per_minute(100));
    let layer = RateLimitLayer::new("name", plenty, Global, store).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    for request in ["first", "second", "third"] {
        outside.allow(1);
        let mut response = call(&mut service, request);
        assert!(poll(response.as_mut()).is_pending());
        // It went with the request, and what it left behind has to be readied again.
        assert!(poll_ready(&mut service).is_pending());
        assert_eq!(arrived(&mut outside), Some(request));
        assert!(matches!(poll(response.as_mut()), Poll::Ready(Ok("served"))));
    }
}

#[test]
fn a_refusal_lets_go_of_the_instance_that_was_ready() {
    let (store, _) = still();
    let layer = RateLimitLayer::new("name", crate::service::once_a_minute(), Global, store).respond_with(AsError);
    let (inner, mut outside) = tower_test::mock::pair();
    outside.allow(9);
    let inner = tower::limit::ConcurrencyLimit::new(inner, 1);
    let mut service = tower::Layer::layer(&layer, inner);
    let mut first = call(&mut service, "first");
    assert!(poll(first.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("first"));
    assert!(poll(first.as_mut()).is_ready());
    drop(first);

    let mut refused = call(&mut service, "refused");
    assert!(matches!(poll(refused.as_mut()), Poll::Ready(Err(_))));
    // Its future is still there, and the one permit is free all the same.
    let mut other = service.clone();
    assert!(matches!(poll_ready(&mut other), Poll::Ready(Ok(()))));
}
