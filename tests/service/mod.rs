//! The service as tower sees it: readiness, the instance that is called, and dropped futures. The inner services are not HTTP,
//! because nothing here depends on HTTP.

mod cancellation;
mod delayed;
mod logging;
mod overtaking;
mod readiness;
mod slots;
mod waiting;

use std::{
    fmt::Debug,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
    time::Duration,
};

use support::{memory::store_at_zero, requests::UserKey};
use tollgate::{
    AsError, FixedWindow, Global, Key, LeakyBucket, Limit, MemoryStore, Quota, RateLimitLayer, Rejection, Tier,
};
use tower::{Layer, Service};
use tower_test::mock::{self, Handle, Mock};

type Inner = Mock<&'static str, &'static str>;
type Outside = Handle<&'static str, &'static str>;

const SECOND: Duration = Duration::from_secs(1);

/// A limit that never delays what it admits.
fn once_a_minute() -> FixedWindow {
    FixedWindow::new(Quota::per_minute(1))
}

/// A limit that delays: one request per second, at most three in the queue.
fn queue() -> LeakyBucket {
    LeakyBucket::new(Quota::per_second(1)).capacity(3)
}

/// Wraps a mock service in a layer.
fn wrap<L: Layer<Inner>>(layer: L) -> (L::Service, Outside) {
    let (inner, outside) = mock::pair();
    (layer.layer(inner), outside)
}

/// Polls once, with a no-op waker.
fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn poll_ready<S: Service<&'static str>>(service: &mut S) -> Poll<Result<(), S::Error>> {
    service.poll_ready(&mut Context::from_waker(Waker::noop()))
}

/// Polls a service ready and calls it.
fn call<S>(service: &mut S, request: &'static str) -> Pin<Box<S::Future>>
where
    S: Service<&'static str, Error: Debug>,
{
    let ready = poll_ready(service);
    assert!(matches!(ready, Poll::Ready(Ok(()))), "{ready:?}");
    Box::pin(service.call(request))
}

/// The request that the inner service has received, if any, which is answered with `served`.
fn arrived(outside: &mut Outside) -> Option<&'static str> {
    match pin!(outside.next_request()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some((request, response))) => {
            response.send_response("served");
            Some(request)
        }
        Poll::Ready(None) | Poll::Pending => None,
    }
}

/// The queue's state: its backlog, the backlog per request, and the time of the last update; empty if it is fresh.
fn backlog(store: &MemoryStore) -> String {
    let state = store.state(&Limit::new("queue", queue()), &Key::GLOBAL);
    state.unwrap_or_default().to_string()
}

fn rejection(error: &tower::BoxError) -> &Rejection {
    error.downcast_ref().expect("a rejection by the layer")
}

#[test]
fn an_admitted_request_is_served_and_a_denied_one_is_an_error() {
    let (store, clock) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("name", once_a_minute(), Global), store).respond_with(AsError);
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
fn a_synchronous_store_decides_in_call() {
    let (store, _) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("name", once_a_minute(), Global), store).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    let [mut first, mut second] = ["first", "second"].map(|request| call(&mut service, request));
    assert_eq!(arrived(&mut outside), Some("first"));
    assert!(matches!(poll(second.as_mut()), Poll::Ready(Err(_))));
    assert!(matches!(poll(first.as_mut()), Poll::Ready(Ok("served"))));
}

#[test]
fn an_inner_error_passes_unchanged_and_its_charge_stays() {
    let (store, _) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("name", once_a_minute(), Global), store).respond_with(AsError);
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
fn a_missing_key_is_an_error_and_an_exempt_request_is_served() {
    let (store, _) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("name", once_a_minute(), UserKey), store.clone()).respond_with(AsError);
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
