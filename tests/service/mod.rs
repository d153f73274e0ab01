//! The service as tower sees it: readiness, the one instance that is ready, and requests that are dropped on the way.
//! It wraps services that are not HTTP, since nothing here is about HTTP.

mod dropped;
mod held;
mod logged;
mod readiness;
mod waiting;

use std::{
    fmt::Debug,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use support::{memory::still, requests::name};
use tollgate::{AsError, FixedWindow, Global, Key, LeakyBucket, Limit, MemoryStore, Quota, RateLimitLayer, Rejection};
use tower::{Layer, Service};
use tower_test::mock::{self, Handle, Mock};

type Inner = Mock<&'static str, &'static str>;
type Outside = Handle<&'static str, &'static str>;

const SECOND: Duration = Duration::from_secs(1);

/// What is admitted at once, as long as it is admitted at all.
fn once_a_minute() -> FixedWindow {
    FixedWindow::new(Quota::per_minute(1))
}

/// What is held back: one leaves a second, and three may wait for it.
fn queue() -> LeakyBucket {
    LeakyBucket::new(Quota::per_second(1)).capacity(3)
}

/// A mock inside of a layer.
fn wrap<L: Layer<Inner>>(layer: L) -> (L::Service, Outside) {
    let (inner, outside) = mock::pair();
    (layer.layer(inner), outside)
}

/// Looks once, without waiting.
fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn poll_ready<S: Service<&'static str>>(service: &mut S) -> Poll<Result<(), S::Error>> {
    service.poll_ready(&mut Context::from_waker(Waker::noop()))
}

/// Readies a service and calls it.
fn call<S>(service: &mut S, request: &'static str) -> Pin<Box<S::Future>>
where
    S: Service<&'static str, Error: Debug>,
{
    let ready = poll_ready(service);
    assert!(matches!(ready, Poll::Ready(Ok(()))), "{ready:?}");
    Box::pin(service.call(request))
}

/// Whether the inner service has been asked.
fn arrived(outside: &mut Outside) -> Option<&'static str> {
    match pin!(outside.next_request()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some((request, response))) => {
            response.send_response("served");
            Some(request)
        }
        Poll::Ready(None) | Poll::Pending => None,
    }
}

/// What the queue has to work off: how much, in units of how much, since when; nothing when it is as new.
fn backlog(store: &MemoryStore) -> String {
    let state = store.state(&Limit::new("queue", queue()), &Key::GLOBAL);
    state.unwrap_or_default().to_string()
}

fn rejection(error: &tower::BoxError) -> &Rejection {
    error.downcast_ref().expect("an error of the layer's own")
}

#[test]
fn what_is_admitted_is_served_and_what_is_not_is_an_error() {
    let (store, clock) = still();
    let layer = RateLimitLayer::new("name", once_a_minute(), Global, store).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);

    let mut first = call(&mut service, "first");
    assert!(poll(first.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("first"));
    assert!(matches!(poll(first.as_mut()), Poll::Ready(Ok("served"))));

    let Poll::Ready(Err(error)) = poll(call(&mut service, "second").as_mut()) else {
        panic!("it is decided at once")
    };
    assert_eq!(arrived(&mut outside), None);
    assert_eq!(rejection(&error).retry_after(), Some(60 * SECOND));

    clock.advance(60 * SECOND);
    assert!(poll(call(&mut service, "third").as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("third"));
}

#[test]
fn a_store_that_need_not_be_waited_for_decides_when_the_request_comes() {
    let (store, _) = still();
    let layer = RateLimitLayer::new("name", once_a_minute(), Global, store).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    let [mut first, mut second] = ["first", "second"].map(|request| call(&mut service, request));
    assert_eq!(arrived(&mut outside), Some("first"));
    assert!(matches!(poll(second.as_mut()), Poll::Ready(Err(_))));
    assert!(matches!(poll(first.as_mut()), Poll::Ready(Ok("served"))));
}

#[test]
fn an_error_of_the_inner_service_passes_unchanged_and_its_charge_stays() {
    let (store, _) = still();
    let layer = RateLimitLayer::new("name", once_a_minute(), Global, store).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    let mut response = call(&mut service, "request");
    assert!(poll(response.as_mut()).is_pending());
    let Poll::Ready(Some((_, inner))) = poll(pin!(outside.next_request())) else {
        panic!("it was admitted")
    };
    inner.send_error("broken");
    let Poll::Ready(Err(error)) = poll(response.as_mut()) else {
        panic!("the error is there")
    };
    assert_eq!(error.to_string(), "broken");
    assert!(matches!(
        poll(call(&mut service, "again").as_mut()),
        Poll::Ready(Err(_))
    ));
}

#[test]
fn who_has_no_key_is_an_error_and_whoever_is_exempt_is_served() {
    let (store, _) = still();
    let layer = RateLimitLayer::new("name", once_a_minute(), name, store.clone()).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    let Poll::Ready(Err(error)) = poll(call(&mut service, "nobody").as_mut()) else {
        panic!("it is known at once")
    };
    assert_eq!(error.to_string(), "the request lacks a name");
    assert_eq!(arrived(&mut outside), None);
    for _ in 0..3 {
        assert!(poll(call(&mut service, "admin").as_mut()).is_pending());
        assert_eq!(arrived(&mut outside), Some("admin"));
    }
    assert!(store.is_empty());
}
