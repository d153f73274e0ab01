//! Futures dropped at every stage of a request: charges are refunded, or stay where the request was served.

use std::task::Poll;

use tollgate::{AsError, Global, Quota, RateLimitLayer, Store, Tier};
use tower::{BoxError, Service};

use crate::service::{Outside, SECOND, arrived, backlog, call, once_a_minute, poll, queue, store_at_zero, wrap};

/// A mock behind a queueing leaky bucket, ready for nine requests.
fn queueing_service(
    store: impl Store,
) -> (
    impl Service<&'static str, Response = &'static str, Error = BoxError>,
    Outside,
) {
    let layer = RateLimitLayer::new(Tier::new("queue", queue(), Global), store).respond_with(AsError);
    let (service, mut outside) = wrap(layer);
    outside.allow(9);
    (service, outside)
}

#[test]
fn dropped_before_the_first_poll() {
    let (store, _) = store_at_zero();
    let (mut service, mut outside) = queueing_service(store.clone());
    drop(call(&mut service, "dropped"));
    assert_eq!(arrived(&mut outside), None);
    assert_eq!(backlog(&store), "");
}

/// A shadow delays no request, so the other tiers are charged as they are without it.
#[test]
fn a_shadow_of_a_queue_refunds_nothing() {
    let (store, _) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("all", once_a_minute(), Global), store.clone())
        .tier(Tier::new("queue", queue(), Global).shadow());
    let (mut service, mut outside) = wrap(layer.respond_with(AsError));
    outside.allow(9);
    drop(call(&mut service, "dropped"));
    assert_eq!(arrived(&mut outside), Some("dropped"));
}

#[test]
fn delayed_requests_dropped_in_reverse_order_free_their_places() {
    let (store, clock) = store_at_zero();
    let (mut service, mut outside) = queueing_service(store);
    let [mut first, mut second, mut third] = ["first", "second", "third"].map(|request| call(&mut service, request));
    for held in [&mut first, &mut second, &mut third] {
        assert!(poll(held.as_mut()).is_pending());
    }
    assert_eq!((clock.pending_sleeps(), arrived(&mut outside)), (2, Some("first")));
    drop(third);
    assert_eq!(clock.pending_sleeps(), 1);
    drop(second);
    assert_eq!(clock.pending_sleeps(), 0);
    // The next request takes the second place again.
    let mut next = call(&mut service, "next");
    assert!(poll(next.as_mut()).is_pending());
    clock.advance(SECOND);
    assert!(poll(next.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("next"));
}

#[test]
fn a_request_dropped_in_mid_queue_does_not_move_later_requests_up() {
    let (store, clock) = store_at_zero();
    let (mut service, mut outside) = queueing_service(store);
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
fn a_delayed_request_that_is_dropped_refunds_its_other_tiers() {
    let (store, _) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("queue", queue(), Global), store)
        .tier(Tier::token_bucket("tokens", Quota::per_minute(2), Global))
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
fn dropped_after_its_delay_while_the_service_is_not_ready() {
    let (store, clock) = store_at_zero();
    let (mut service, mut outside) = queueing_service(store);
    outside.allow(2);
    let [mut first, mut held] = ["first", "held"].map(|request| call(&mut service, request));
    assert!(poll(first.as_mut()).is_pending());
    assert!(poll(held.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("first"));
    clock.advance(SECOND);
    outside.allow(0);
    assert!(poll(held.as_mut()).is_pending());
    drop(held);
    // The backlog drained in the elapsed second.
    outside.allow(1);
    let mut next = call(&mut service, "next");
    assert!(poll(next.as_mut()).is_pending());
    assert_eq!(arrived(&mut outside), Some("next"));
}

#[test]
fn dropped_while_served_keeps_the_charge() {
    let (store, _) = store_at_zero();
    let layer = RateLimitLayer::new(Tier::new("name", once_a_minute(), Global), store).respond_with(AsError);
    let (mut service, mut outside) = wrap(layer);
    outside.allow(9);
    let mut served = call(&mut service, "served");
    assert!(poll(served.as_mut()).is_pending());
    drop(served);
    assert!(matches!(poll(call(&mut service, "next").as_mut()), Poll::Ready(Err(_))));
}

/// Redis decides asynchronously, so a request can be dropped while its decision is pending.
#[cfg(feature = "redis")]
mod while_redis_decides {
    use tollgate::{
        AsError, Charge, FixedWindow, Global, Key, Limit, ManualClock, Operation, Quota, RateLimitLayer, RedisStore,
        Store, Tier, redis::Connection,
    };
    use tower::Service;

    use super::queueing_service;
    use support::{
        redis::{RedisServer, calls, info, keys, query},
        wait::yield_until,
    };

    use crate::service::{arrived, call, poll, wrap};

    async fn connected(server: &RedisServer) -> RedisStore {
        let store = server.store().clock(ManualClock::at(0)).build().unwrap();
        store.check().await.unwrap();
        store
    }

    /// Pauses Redis, drops a request that Redis has received, and resumes Redis.
    async fn drop_while_redis_decides<S>(service: &mut S, redis: &mut Connection)
    where
        S: Service<&'static str, Error: std::fmt::Debug>,
    {
        query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
        let mut response = call(service, "dropped");
        let sent = yield_until(async || {
            assert!(poll(response.as_mut()).is_pending());
            info(redis, "clients", "blocked_clients:") == 1
        });
        sent.await;
        drop(response);
        query::<()>(redis, "CONFIG RESETSTAT");
        query::<()>(redis, "CLIENT UNPAUSE");
    }

    #[tokio::test]
    async fn a_queue_place_is_refunded_and_the_inner_service_is_not_called() {
        let server = RedisServer::start();
        let redis = &mut server.client();
        let (mut service, mut outside) = queueing_service(connected(&server).await);
        drop_while_redis_decides(&mut service, redis).await;
        // The store acquires the place and then refunds it.
        yield_until(async || calls(redis, "evalsha") == 2).await;
        assert_eq!(keys(redis), [""; 0]);
        assert_eq!(arrived(&mut outside), None);
    }

    #[tokio::test]
    async fn a_fixed_window_keeps_the_charge() {
        let server = RedisServer::start();
        let store = connected(&server).await;
        let three = FixedWindow::new(Quota::per_minute(3));
        let layer = RateLimitLayer::new(Tier::new("name", three, Global), store.clone()).respond_with(AsError);
        let (mut service, mut outside) = wrap(layer);
        outside.allow(9);
        drop_while_redis_decides(&mut service, &mut server.client()).await;
        let charge = Charge::new(Limit::new("name", three), Key::GLOBAL);
        let decision = store.apply(Operation::Acquire(charge.into())).await.unwrap();
        assert_eq!(decision.tiers()[0].verdict().remaining(), 1);
        assert_eq!(arrived(&mut outside), None);
    }

    #[test]
    fn polled_outside_a_runtime_fails_open() {
        let server = RedisServer::start();
        let (mut service, mut outside) = queueing_service(server.store().build().unwrap());
        drop(call(&mut service, "never polled"));
        assert!(poll(call(&mut service, "unchecked").as_mut()).is_pending());
        assert_eq!(arrived(&mut outside), Some("unchecked"));
    }

    #[test]
    fn dropped_after_the_runtime_ended_is_not_refunded() {
        let server = RedisServer::start();
        let clock = ManualClock::at(0);
        let (mut service, _outside) = queueing_service(server.store().clock(clock.clone()).build().unwrap());
        let mut held = ["first", "second"].map(|request| call(&mut service, request));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let begun = yield_until(async || {
                assert!(held.iter_mut().all(|held| poll(held.as_mut()).is_pending()));
                clock.pending_sleeps() > 0
            });
            begun.await;
        });
        drop(held);
        assert_eq!(clock.pending_sleeps(), 0);
        assert_eq!(keys(&mut server.client()).len(), 1);
    }
}
