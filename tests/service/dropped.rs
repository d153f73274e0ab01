//! A client can leave at any time, and nothing wrong is left behind.

use std::task::Poll;

use tollgate::{AsError, Global, Quota, RateLimitLayer, Store, TokenBucket};
use tower::{BoxError, Service};

use crate::service::{Outside, SECOND, arrived, backlog, call, once_a_minute, poll, queue, still, wrap};

/// A mock behind a queue, which takes as many requests as it is given.
fn queueing(
    store: impl Store,
) -> (
    impl Service<&'static str, Response = &'static str, Error = BoxError>,
    Outside,
) {
    let layer = RateLimitLayer::new("queue", queue(), Global, store).respond_with(AsError);
    let (service, mut outside) = wrap(layer);
    outside.allow(9);
    (service, outside)
}

#[test]
fn before_anything_was_done() {
    let (store, _) = still();
    let (mut service, mut outside) = queueing(store.clone());
    drop(call(&mut service, "dropped"));
    assert_eq!(arrived(&mut outside), None);
    assert_eq!(backlog(&store), "");
}

#[test]
fn while_it_is_held_which_frees_its_place_in_reverse_order() {
    let (store, clock) = still();
    let (mut service, mut outside) = queueing(store);
    let [mut first, mut second, mut third] = ["first", "second", "third"].map(|request| call(&mut service, request));
    for held in [&mut first, &mut second, &mut third] {
        assert!(poll(held.as_mut()).is_pending());
    }
    assert_eq!((clock.waiting(), arrived(&mut outside)), (2, Some("first")));
    drop(third);
    assert_eq!(clock.waiting(), 1);
    drop(second);
    assert_eq!(clock.waiting(), 0);
    // The next one is the second again.
    let mut next = call(&mut service, "next");
    assert!(poll(next.as_mut()).is_pending());
    clock.advance(SECOND);
    assert!(poll(next.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("next"));
}

#[test]
fn while_it_is_held_with_somebody_behind_it_who_is_not_moved_up() {
    let (store, clock) = still();
    let (mut service, mut outside) = queueing(store);
    let [mut first, mut second, mut third] = ["first", "second", "third"].map(|request| call(&mut service, request));
    for held in [&mut first, &mut second, &mut third] {
        assert!(poll(held.as_mut()).is_pending());
    }
    assert_eq!(arrived(&mut outside), Some("first"));
    drop(second);
    clock.advance(SECOND);
    assert!(poll(third.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), None);
    clock.advance(SECOND);
    assert!(poll(third.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("third"));
}

#[test]
fn while_it_is_held_which_gives_back_what_its_other_tiers_took() {
    let (store, _) = still();
    let layer = RateLimitLayer::new("queue", queue(), Global, store)
        .tier("tokens", TokenBucket::new(Quota::per_minute(2)), Global)
        .respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    let mut first = call(&mut service, "first");
    assert!(poll(first.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("first"));
    for _ in 0..5 {
        let mut held = call(&mut service, "held");
        assert!(poll(held.as_mut()).is_pending());
    }
}

#[test]
fn while_it_waits_for_the_service_to_be_ready_after_its_turn_has_come() {
    let (store, clock) = still();
    let (mut service, mut outside) = queueing(store);
    outside.allow(2);
    let [mut first, mut held] = ["first", "held"].map(|request| call(&mut service, request));
    assert!(poll(first.as_mut()).is_pending());
    assert!(poll(held.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("first"));
    clock.advance(SECOND);
    outside.allow(0);
    assert!(poll(held.as_mut()).is_pending());
    drop(held);
    // What is left in the queue drained in the second that has gone by.
    outside.allow(1);
    let mut next = call(&mut service, "next");
    assert!(poll(next.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("next"));
}

#[test]
fn while_it_is_served_which_keeps_its_charge() {
    let (store, _) = still();
    let layer = RateLimitLayer::new("name", once_a_minute(), Global, store).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    let mut served = call(&mut service, "served");
    assert!(poll(served.as_mut()).is_pending());
    drop(served);
    assert!(matches!(poll(call(&mut service, "next").as_mut()), Poll::Ready(Err(_))));
}

/// On Redis, where a decision takes its time.
#[cfg(feature = "redis")]
mod while_redis_decides {
    use tollgate::{
        AsError, Charge, FixedWindow, Global, Key, Limit, ManualClock, Operation, Quota, RateLimitLayer, RedisStore,
        Store, redis::Connection,
    };
    use tower::Service;

    use super::queueing;
    use support::{
        patience::yielding,
        redis::{RedisServer, ask, calls, info, keys},
    };

    use crate::service::{arrived, call, poll, wrap};

    async fn connected(server: &RedisServer) -> RedisStore {
        let store = server.store().clock(ManualClock::at(0)).build().unwrap();
        store.check().await.unwrap();
        store
    }

    /// Has a request sent to a Redis that keeps it waiting, drops it, and lets Redis go on.
    async fn drop_while_redis_decides<S>(service: &mut S, redis: &mut Connection)
    where
        S: Service<&'static str, Error: std::fmt::Debug>,
    {
        ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        let mut response = call(service, "dropped");
        let sent = yielding(async || {
            assert!(poll(response.as_mut()).is_pending());
            info(redis, "clients", "blocked_clients:") == 1
        });
        sent.await;
        drop(response);
        ask::<()>(redis, "CONFIG RESETSTAT");
        ask::<()>(redis, "CLIENT UNPAUSE");
    }

    #[tokio::test]
    async fn a_queue_gets_its_place_back_and_the_inner_service_sees_nothing() {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let (mut service, mut outside) = queueing(connected(&server).await);
        drop_while_redis_decides(&mut service, redis).await;
        // It is charged and then given back.
        yielding(async || calls(redis, "evalsha") == 2).await;
        assert_eq!(keys(redis), [""; 0]);
        assert_eq!(arrived(&mut outside), None);
    }

    #[tokio::test]
    async fn a_window_keeps_the_charge_and_the_next_decision_is_right() {
        let server = RedisServer::start();
        let store = connected(&server).await;
        let three = FixedWindow::new(Quota::per_minute(3));
        let layer = RateLimitLayer::new("name", three, Global, store.clone()).respond_with(AsError);
        let (mut service, mut outside) = wrap(layer);
        outside.allow(9);
        drop_while_redis_decides(&mut service, &mut server.client()).await;
        let charge = Charge::new(Limit::new("name", three), Key::GLOBAL);
        let decision = store.apply(Operation::Acquire(charge.into())).await.unwrap();
        assert_eq!(decision.tiers()[0].verdict().remaining(), 1);
        assert_eq!(arrived(&mut outside), None);
    }

    #[test]
    fn outside_of_any_runtime_where_redis_cannot_be_asked() {
        let server = RedisServer::start();
        let (mut service, mut outside) = queueing(server.store().build().unwrap());
        drop(call(&mut service, "never polled"));
        assert!(poll(call(&mut service, "unchecked").as_mut()).is_pending());
        assert_eq!(arrived(&mut outside), Some("unchecked"));
    }

    #[test]
    fn or_after_its_runtime_has_ended_when_nothing_can_be_given_back() {
        let server = RedisServer::start();
        let clock = ManualClock::at(0);
        let (mut service, _outside) = queueing(server.store().clock(clock.clone()).build().unwrap());
        let mut held = ["first", "second"].map(|request| call(&mut service, request));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let begun = yielding(async || {
                assert!(held.iter_mut().all(|held| poll(held.as_mut()).is_pending()));
                clock.waiting() > 0
            });
            begun.await;
        });
        drop(held);
        assert_eq!(clock.waiting(), 0);
        assert_eq!(keys(&mut server.client()).len(), 1);
    }
}
