//! A queueing leaky bucket delays requests, and blocks nothing else.

use std::{collections::VecDeque, task::Poll};

use tollgate::{AsError, Global, Key, LeakyBucket, Quota, RateLimitLayer, Tier};
use tower::{Layer, limit::ConcurrencyLimit};
use tower_test::mock;

use crate::service::{SECOND, arrived, backlog, call, poll, queue, store_at_zero, wrap};

#[test]
fn five_concurrent_requests_are_served_one_per_second() {
    let (store, clock) = store_at_zero();
    let queue = LeakyBucket::new(Quota::per_second(1)).capacity(10);
    let layer = RateLimitLayer::new(Tier::new("queue", queue, Global), store).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    let requests = ["0 s", "1 s", "2 s", "3 s", "4 s"];
    let mut responses: VecDeque<_> = requests.map(|request| call(&mut service, request)).into();
    for second in requests {
        assert!(
            responses
                .iter_mut()
                .all(|response| poll(response.as_mut()).is_pending())
        );
        assert_eq!(arrived(&mut outside), Some(second));
        assert_eq!(arrived(&mut outside), None);
        let mut served = responses.pop_front().unwrap();
        assert!(matches!(poll(served.as_mut()), Poll::Ready(Ok("served"))));
        clock.advance(SECOND);
    }
}

#[test]
fn a_delayed_request_does_not_hold_a_ready_service() {
    let (store, clock) = store_at_zero();
    let key = |request: &&'static str| Key::named("user", request);
    let layer = RateLimitLayer::new(Tier::new("queue", queue(), key), store).respond_with(AsError);
    let (inner, mut outside) = mock::pair();
    outside.allow(9);
    // The concurrency limit has one permit, which a ready service holds.
    let mut service = layer.layer(ConcurrencyLimit::new(inner, 1));

    let mut ahead = call(&mut service, "a");
    assert!(poll(ahead.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("a"));
    assert!(matches!(poll(ahead.as_mut()), Poll::Ready(Ok("served"))));
    drop(ahead);

    let mut held = call(&mut service, "a");
    assert!(poll(held.as_mut()).is_pending());
    assert_eq!((clock.pending_sleeps(), arrived(&mut outside)), (1, None));

    // Another client is served meanwhile.
    let mut other = call(&mut service, "b");
    assert!(poll(other.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("b"));

    // After its delay, the request waits until the service is ready again.
    clock.advance(SECOND);
    assert!(poll(held.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), None);
    assert!(matches!(poll(other.as_mut()), Poll::Ready(Ok("served"))));
    drop(other);
    assert!(poll(held.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("a"));
    assert!(matches!(poll(held.as_mut()), Poll::Ready(Ok("served"))));
}

#[test]
fn an_inner_error_during_a_delay_fails_the_delayed_request() {
    let (store, clock) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("queue", queue(), Global), store.clone()).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(2);
    let mut first = call(&mut service, "first");
    let mut held = call(&mut service, "held");
    assert!(poll(first.as_mut()).is_pending());
    assert!(poll(held.as_mut()).is_pending());
    clock.advance(SECOND);
    outside.send_error("broken");
    let Poll::Ready(Err(error)) = poll(held.as_mut()) else {
        panic!("the inner error is returned")
    };
    assert_eq!(error.to_string(), "broken");
    drop(held);
    // The request refunded its place, and the backlog of the first one drained in that second.
    assert_eq!(backlog(&store), "");
}
