//! Requests that wait instead of being denied, polled one step at a time.

use std::{pin::Pin, task::Poll};

use tollgate::{AsError, Global, Key, Quota, RateLimitLayer, Tier};
use tower::{BoxError, Layer, Service, limit::ConcurrencyLimit};
use tower_test::mock;

use crate::service::{Outside, SECOND, arrived, call, once_a_minute, poll, rejection, store_at_zero, wrap};

type Response = Pin<Box<dyn Future<Output = Result<&'static str, BoxError>>>>;

/// Sends a request and polls it once: it waits, or reaches the inner service.
fn send<S>(service: &mut S, request: &'static str) -> Response
where
    S: Service<&'static str, Response = &'static str, Error = BoxError, Future: 'static>,
{
    let mut response: Response = call(service, request);
    assert!(poll(response.as_mut()).is_pending());
    response
}

/// Asserts that the inner service receives this request next.
fn served(outside: &mut Outside, mut response: Response, request: &'static str) {
    assert!(poll(response.as_mut()).is_pending());
    assert_eq!(arrived(outside), Some(request));
    assert!(matches!(poll(response.as_mut()), Poll::Ready(Ok("served"))));
}

#[test]
fn a_waiting_request_does_not_hold_a_ready_service() {
    let (store, clock) = store_at_zero();
    let key = |request: &&'static str| Key::named("user", request);
    let layer = RateLimitLayer::new(Tier::new("name", once_a_minute(), key), store).wait(60 * SECOND);
    let (inner, mut outside) = mock::pair();
    outside.allow(9);
    // The concurrency limit has one permit, which a ready service holds.
    let mut service = layer.respond_with(AsError).layer(ConcurrencyLimit::new(inner, 1));
    let first = send(&mut service, "a");
    served(&mut outside, first, "a");
    let waiting = send(&mut service, "a");
    // Another client is served meanwhile.
    let other = send(&mut service, "b");
    served(&mut outside, other, "b");
    assert_eq!((clock.pending_sleeps(), arrived(&mut outside)), (1, None));
    clock.advance(60 * SECOND);
    served(&mut outside, waiting, "a");
}

#[test]
fn dropped_after_admission_and_before_the_call_is_not_charged() {
    let (store, clock) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("name", once_a_minute(), Global), store).wait(60 * SECOND);
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(2);
    let first = send(&mut service, "first");
    served(&mut outside, first, "first");
    let mut waiting = send(&mut service, "waiting");
    clock.advance(60 * SECOND);
    // The request is admitted, but the inner service is not ready.
    outside.allow(0);
    assert!(poll(waiting.as_mut()).is_pending());
    assert_eq!(clock.pending_sleeps(), 0);
    drop(waiting);
    outside.allow(9);
    let next = send(&mut service, "next");
    served(&mut outside, next, "next");
}

/// The tier that denies the head may have a key that the requests behind it do not share.
#[test]
fn a_head_denied_under_its_own_key_does_not_block_the_queue() {
    let (store, clock) = store_at_zero();
    let user = |request: &&'static str| Key::named("user", &request[..1]);
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(3), Global, store)
        .tier(Tier::sliding_log("user", Quota::per_hour(3), user))
        .wait(120 * SECOND)
        .respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(99);
    for first in ["a1", "a2", "b1"] {
        let response = send(&mut service, first);
        served(&mut outside, response, first);
    }
    let [a3, mut a4, b2, c1] = ["a3", "a4", "b2", "c1"].map(|request| send(&mut service, request));
    clock.advance(60 * SECOND);
    served(&mut outside, a3, "a3");
    // Its user has exhausted the hourly limit, so the request is rejected. The requests behind it have not been checked again
    // yet when the next one arrives.
    let Poll::Ready(Err(error)) = poll(a4.as_mut()) else {
        panic!("the wait exceeds the maximum")
    };
    assert_eq!(rejection(&error).retry_after(), Some(3540 * SECOND));
    drop(a4);
    let mut d1 = send(&mut service, "d1");
    assert_eq!(arrived(&mut outside), None);
    served(&mut outside, b2, "b2");
    served(&mut outside, c1, "c1");
    // Three requests were admitted in this minute.
    assert!(poll(d1.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), None);
    clock.advance(60 * SECOND);
    served(&mut outside, d1, "d1");
}
