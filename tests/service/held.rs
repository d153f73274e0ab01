//! A queue holds requests back, and nothing else.

use std::{collections::VecDeque, task::Poll};

use tollgate::{AsError, Global, Key, LeakyBucket, Quota, RateLimitLayer};
use tower::{Layer, limit::ConcurrencyLimit};
use tower_test::mock;

use crate::service::{SECOND, arrived, backlog, call, poll, queue, still, wrap};

#[test]
fn five_at_once_leave_one_a_second() {
    let (store, clock) = still();
    let queue = LeakyBucket::new(Quota::per_second(1)).capacity(10);
    let layer = RateLimitLayer::new("queue", queue, Global, store).respond_with(AsError);
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
fn who_is_held_does_not_sit_on_a_service_that_is_ready() {
    let (store, clock) = still();
    let key = |request: &&'static str| Key::named("user", request);
    let layer = RateLimitLayer::new("queue", queue(), key, store).respond_with(AsError);
    let (inner, mut outside) = mock::pair();
    outside.allow(9);
    // There is one permit, and whoever is ready has it.
    let mut service = layer.layer(ConcurrencyLimit::new(inner, 1));

    let mut ahead = call(&mut service, "a");
    assert!(poll(ahead.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("a"));
    assert!(matches!(poll(ahead.as_mut()), Poll::Ready(Ok("served"))));
    drop(ahead);

    let mut held = call(&mut service, "a");
    assert!(poll(held.as_mut()).is_pending());
    assert_eq!((clock.waiting(), arrived(&mut outside)), (1, None));

    // Somebody else is served meanwhile.
    let mut other = call(&mut service, "b");
    assert!(poll(other.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("b"));

    // When its turn has come, it waits until the service is ready again.
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
fn a_service_that_fails_while_a_request_is_held_fails_that_request() {
    let (store, clock) = still();
    let layer = RateLimitLayer::new("queue", queue(), Global, store.clone()).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(2);
    let mut first = call(&mut service, "first");
    let mut held = call(&mut service, "held");
    assert!(poll(first.as_mut()).is_pending());
    assert!(poll(held.as_mut()).is_pending());
    clock.advance(SECOND);
    outside.send_error("broken");
    let Poll::Ready(Err(error)) = poll(held.as_mut()) else {
        panic!("it cannot be served")
    };
    assert_eq!(error.to_string(), "broken");
    drop(held);
    // It gave its place back, and what the first one left has drained in that second.
    assert_eq!(backlog(&store), "");
}
