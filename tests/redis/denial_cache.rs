//! The denial cache: repeated requests for an exhausted key are denied without a call to Redis, for at most a second.

use std::{thread, time::Duration};

use tokio::{runtime, sync::oneshot, time};
use tollgate::redis::Connection;
use tollgate::{
    AsError, Charge, Charges, Cost, Global, Key, Limit, ManualClock, Operation, Outcome, Quota, RateLimitLayer,
    RedisStore, Store, Tier, TokenBucket,
};
use tower::{BoxError, Layer, ServiceExt, service_fn};

use support::{
    redis::{RedisServer, acquire, calls, query},
    wait::{eventually, stop_clock},
};

fn limit(name: &str, a_day: u32) -> Limit {
    Limit::new(name, TokenBucket::new(Quota::per_day(a_day)))
}

fn charge(cost: Cost) -> Charge {
    Charge::new(limit("exhausted", 2), Key::new("key")).with_cost(cost)
}

/// The number of calls to Redis for a denied charge.
async fn calls_of_denied(store: &RedisStore, redis: &mut Connection, charges: impl Into<Charges>) -> u64 {
    let before = calls(redis, "evalsha");
    assert!(!acquire(store, charges).await.admits());
    calls(redis, "evalsha") - before
}

/// Resets the limit from another node. It runs on a separate runtime, so that a stopped clock of this one does not advance.
fn reset_by(elsewhere: &RedisStore) {
    let node = || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reset = async { elsewhere.apply(Operation::Reset(charge(1).into())).await };
        runtime.block_on(reset).unwrap();
    };
    thread::scope(|scope| scope.spawn(node).join().unwrap());
}

/// A store with one cached denial, of cost 2 for a key with one of two units remaining.
async fn store_with_denial(server: &RedisServer) -> RedisStore {
    let store = server.store().build().unwrap();
    assert!(acquire(&store, charge(1)).await.admits());
    assert!(!acquire(&store, charge(2)).await.admits());
    store
}

#[tokio::test]
async fn a_denial_is_cached_for_the_same_cost() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    // The cache expires after a second.
    let clock = stop_clock();
    let store = store_with_denial(&server).await;
    for _ in 0..100 {
        assert_eq!(calls_of_denied(&store, redis, charge(2)).await, 0);
    }
    clock.end().await;
    time::resume();
    // A lower cost may be admitted, and a cost above the capacity is impossible.
    assert!(acquire(&store, charge(1)).await.admits());
    assert_eq!(acquire(&store, charge(3)).await.outcome(), Outcome::Impossible);
    // The denial does not apply to a changed limit.
    let raised = Charge::new(limit("exhausted", 3), Key::new("key"));
    assert!(acquire(&store, raised).await.admits());
}

#[tokio::test]
async fn a_peek_neither_uses_nor_changes_the_cache() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let clock = stop_clock();
    let (store, other) = (store_with_denial(&server).await, server.store().build().unwrap());
    for (store, cached_calls) in [(store, 0), (other, 1)] {
        let before = calls(redis, "evalsha");
        assert!(!store.apply(Operation::Peek(charge(2).into())).await.unwrap().admits());
        assert_eq!(calls(redis, "evalsha") - before, 1);
        assert_eq!(calls_of_denied(&store, redis, charge(2)).await, cached_calls);
    }
    clock.end().await;
}

#[tokio::test]
async fn a_cached_denial_has_a_current_retry_after() {
    let server = RedisServer::start();
    let clock = stop_clock();
    let store = store_with_denial(&server).await;
    clock.end().await;
    let first = acquire(&store, charge(2)).await;
    for step in 1..=100 {
        time::advance(Duration::from_micros(4999)).await;
        let cached = acquire(&store, charge(2)).await;
        let elapsed = step * 4999;
        assert_eq!(cached.now(), first.now() + elapsed);
        let waits = [&first, &cached].map(|decision| decision.retry_after().unwrap().as_micros() as u64);
        assert_eq!(waits[1] + elapsed, waits[0]);
        let resets = [&first, &cached].map(|decision| decision.tiers()[0].verdict().reset_after().as_micros() as u64);
        assert_eq!(resets[1] + elapsed, resets[0]);
    }
}

#[tokio::test]
async fn other_tiers_and_costs_are_not_denied_from_the_cache() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let clock = stop_clock();
    let store = store_with_denial(&server).await;
    let mut group = Charges::from(Charge::new(limit("other", 10), Key::new("key")));
    group.push(charge(2)).unwrap();
    assert_eq!(calls_of_denied(&store, redis, group.clone()).await, 1);
    assert_eq!(calls_of_denied(&store, redis, group.clone()).await, 0);
    clock.end().await;
    time::resume();
    let mut higher_cost = Charges::from(Charge::new(limit("other", 10), Key::new("key")).with_cost(2));
    higher_cost.push(charge(2)).unwrap();
    assert_eq!(calls_of_denied(&store, redis, higher_cost).await, 1);
    assert!(acquire(&store, charge(2).shadow()).await.admits());
}

#[tokio::test]
async fn a_refund_or_reset_by_this_node_clears_the_cache() {
    let server = RedisServer::start();
    let store = store_with_denial(&server).await;
    store.apply(Operation::Reset(charge(1).into())).await.unwrap();
    let mut decision = acquire(&store, charge(2)).await;
    assert!(decision.admits());
    assert!(!acquire(&store, charge(1)).await.admits());
    let receipt = decision.take_receipt().unwrap();
    store.apply(Operation::Refund(receipt)).await.unwrap();
    assert!(acquire(&store, charge(1)).await.admits());
}

/// An unanswered reset may have been applied, so cached denials are dropped.
#[tokio::test]
async fn an_unanswered_reset_clears_the_cache() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = server.store().deadline(Duration::from_millis(200)).build().unwrap();
    let clock = stop_clock();
    assert!(acquire(&store, charge(2)).await.admits());
    assert_eq!(calls_of_denied(&store, redis, charge(2)).await, 1);
    assert_eq!(calls_of_denied(&store, redis, charge(2)).await, 0);
    clock.end().await;
    query::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let reset = store.apply(Operation::Reset(charge(1).into())).await;
    time::resume();
    assert!(reset.unwrap_err().may_have_charged());
    // Redis never executes the reset, which the store cannot know.
    query::<()>(redis, "CLIENT KILL TYPE normal");
    query::<()>(redis, "CLIENT UNPAUSE");
    let before = calls(redis, "evalsha");
    // The connections are closed, which fails a call or two.
    let is_answered = async || store.apply(Operation::Acquire(charge(2).into())).await.is_ok();
    eventually("a call is answered", is_answered).await;
    assert!(calls(redis, "evalsha") > before);
}

#[tokio::test]
async fn a_reset_by_another_node_takes_effect_within_a_second() {
    let server = RedisServer::start();
    let (here, elsewhere) = (server.store().build().unwrap(), server.store().build().unwrap());
    let clock = stop_clock();
    assert!(acquire(&here, charge(2)).await.admits());
    assert!(!acquire(&here, charge(2)).await.admits());
    clock.end().await;
    reset_by(&elsewhere);
    assert!(!acquire(&here, charge(2)).await.admits());
    time::advance(Duration::from_secs(1)).await;
    time::resume();
    assert!(acquire(&here, charge(2)).await.admits());
}

/// A charge with `refund_if` may be refunded at any moment, so its denials are not cached.
#[tokio::test]
async fn denials_of_refundable_charges_are_not_cached() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    // The service reports when it is called, then waits for the outcome.
    type Login = (oneshot::Sender<()>, oneshot::Receiver<bool>);
    let [here, elsewhere] = [(); 2].map(|()| {
        let store = server.store().build().unwrap();
        let layer = RateLimitLayer::new(
            Tier::token_bucket("logins", Quota::per_day(1), Global).refund_if(|succeeded: &bool| *succeeded),
            store,
        )
        .respond_with(AsError);
        layer.layer(service_fn(async |(started, outcome): Login| {
            started.send(()).unwrap();
            outcome.await.map_err(BoxError::from)
        }))
    });
    let login = || {
        let ((start, started), (outcome, result)) = (oneshot::channel(), oneshot::channel());
        ((start, result), started, outcome)
    };
    let (request, started, outcome) = login();
    let served = tokio::spawn(elsewhere.oneshot(request));
    started.await.unwrap();
    for _ in 0..3 {
        let before = calls(redis, "evalsha");
        assert!(here.clone().oneshot(login().0).await.is_err());
        assert_eq!(calls(redis, "evalsha"), before + 1);
    }
    outcome.send(true).unwrap();
    assert!(served.await.unwrap().unwrap());
    let (request, started, outcome) = login();
    let served = tokio::spawn(here.oneshot(request));
    started.await.unwrap();
    outcome.send(true).unwrap();
    assert!(served.await.unwrap().unwrap());
}

#[tokio::test]
async fn the_cache_can_be_disabled_and_is_disabled_on_a_custom_clock() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    for builder in [
        server.store().cache_denials(false),
        server.store().clock(ManualClock::at(0)),
    ] {
        let store = builder.build().unwrap();
        store.apply(Operation::Reset(charge(1).into())).await.unwrap();
        assert!(acquire(&store, charge(2)).await.admits());
        for _ in 0..3 {
            assert_eq!(calls_of_denied(&store, redis, charge(2)).await, 1);
        }
    }
}
