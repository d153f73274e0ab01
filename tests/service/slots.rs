//! Slots of a concurrency limit around a service that is not HTTP: held until the response, since there is no body.

use std::{pin::pin, task::Poll, time::Duration};

use tollgate::{AsError, Charge, Concurrency, Global, Key, Limit, MemoryStore, Operation, RateLimitLayer, Store};

use crate::service::{arrived, call, poll, rejection, store_at_zero, wrap};

/// How often a request that waits asks for slots that other nodes have released.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

fn one_job() -> Limit {
    Limit::new("jobs", Concurrency::new(1))
}

fn layer(store: &MemoryStore) -> RateLimitLayer<Concurrency, Global, MemoryStore> {
    RateLimitLayer::concurrency("jobs", 1, Global, store.clone())
}

fn held(store: &MemoryStore) -> bool {
    store.acquire(&one_job(), &Key::GLOBAL, 0).remaining() == 0
}

#[test]
fn a_slot_is_held_until_the_response() {
    let (store, _) = store_at_zero();
    let (mut service, mut outside) = wrap(layer(&store).respond_with(AsError));
    outside.allow(9);
    let mut first = call(&mut service, "first");
    assert!(poll(first.as_mut()).is_pending());
    let Poll::Ready(Err(error)) = poll(call(&mut service, "second").as_mut()) else {
        panic!("it is decided at once")
    };
    assert_eq!(rejection(&error).retry_after(), Some(Duration::from_secs(1)));
    assert_eq!(arrived(&mut outside), Some("first"));
    assert!(held(&store));
    assert!(matches!(poll(first.as_mut()), Poll::Ready(Ok("served"))));
    // The future still exists.
    assert!(!held(&store));
    drop(first);
}

#[test]
fn an_error_and_a_drop_release_the_slot() {
    let (store, _) = store_at_zero();
    let (mut service, mut outside) = wrap(layer(&store).respond_with(AsError));
    outside.allow(9);
    let mut failed = call(&mut service, "failed");
    assert!(poll(failed.as_mut()).is_pending());
    let Poll::Ready(Some((_, inner))) = poll(pin!(outside.next_request())) else {
        panic!("it was admitted")
    };
    inner.send_error("broken");
    assert!(poll(failed.as_mut()).is_ready());
    assert!(!held(&store));

    let dropped = call(&mut service, "dropped");
    assert!(held(&store));
    drop(dropped);
    assert!(!held(&store));
}

#[test]
fn a_request_that_is_dropped_while_it_waits_takes_no_slot() {
    let (store, clock) = store_at_zero();
    let (mut service, mut outside) = wrap(layer(&store).wait(Duration::from_secs(60)).respond_with(AsError));
    outside.allow(9);
    let mut first = call(&mut service, "first");
    assert!(poll(first.as_mut()).is_pending());
    let [mut dropped, mut waiting] = ["dropped", "waiting"].map(|request| call(&mut service, request));
    for request in [&mut dropped, &mut waiting] {
        assert!(poll(request.as_mut()).is_pending());
    }
    drop(dropped);
    assert_eq!(arrived(&mut outside), Some("first"));
    assert!(poll(first.as_mut()).is_ready());
    // The release wakes the next one that still waits, and no time passes.
    assert!(poll(waiting.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("waiting"));
    assert!(poll(waiting.as_mut()).is_ready());
    assert!(!held(&store));
    assert_eq!(clock.pending_sleeps(), 0);
}

/// A release that does not go through this layer, as on another node, wakes no request.
#[test]
fn a_request_that_waits_finds_what_others_have_released() {
    let (store, clock) = store_at_zero();
    let (mut service, mut outside) = wrap(layer(&store).wait(Duration::from_secs(60)).respond_with(AsError));
    outside.allow(9);
    let Ok(elsewhere) = store.acquire_now(Charge::new(one_job(), Key::GLOBAL).into()) else {
        panic!("the memory store decides at once")
    };
    let mut waiting = call(&mut service, "waiting");
    for _ in 0..2 {
        assert!(poll(waiting.as_mut()).is_pending());
        clock.advance(POLL_INTERVAL);
    }
    assert!(poll(waiting.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), None);
    let release = Operation::Refund(elsewhere.into_receipt().unwrap());
    assert!(store.apply(release).into_inner().is_ok());
    assert!(poll(waiting.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), None);
    clock.advance(POLL_INTERVAL);
    assert!(poll(waiting.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("waiting"));
    assert!(matches!(poll(waiting.as_mut()), Poll::Ready(Ok("served"))));
}
