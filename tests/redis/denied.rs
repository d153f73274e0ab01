//! Keys that have nothing left: refused again without asking Redis, for a second at most.

use std::{thread, time::Duration};

use tokio::{runtime, sync::oneshot, time};
use tollgate::redis::Connection;
use tollgate::{
    AsError, Charge, Charges, Cost, Global, Key, Limit, ManualClock, Operation, Outcome, Quota, RateLimitLayer,
    RedisStore, Store, TokenBucket,
};
use tower::{BoxError, Layer, ServiceExt, service_fn};

use support::{
    patience::{eventually, stand_still},
    redis::{RedisServer, acquire, ask, calls},
};

fn limit(name: &str, a_day: u32) -> Limit {
    Limit::new(name, TokenBucket::new(Quota::per_day(a_day)))
}

fn charge(cost: Cost) -> Charge {
    Charge::new(limit("spent", 2), Key::new("key")).cost(cost)
}

/// How many calls a charge takes when it is refused.
async fn calls_of(store: &RedisStore, redis: &mut Connection, charges: impl Into<Charges>) -> u64 {
    let before = calls(redis, "evalsha");
    assert!(!acquire(store, charges).await.admits());
    calls(redis, "evalsha") - before
}

/// Resets the limit from another node. The time of this one does not go on meanwhile, if it stands still.
fn reset_by(elsewhere: &RedisStore) {
    let node = || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reset = async { elsewhere.apply(Operation::Reset(charge(1).into())).await };
        runtime.block_on(reset).unwrap();
    };
    thread::scope(|scope| scope.spawn(node).join().unwrap());
}

/// A store that has been refused once, of a key that has one left of two.
async fn refused(server: &RedisServer) -> RedisStore {
    let store = server.store().build().unwrap();
    assert!(acquire(&store, charge(1)).await.admits());
    assert!(!acquire(&store, charge(2)).await.admits());
    store
}

#[tokio::test]
async fn a_refusal_is_repeated_to_whoever_asks_for_as_much() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    // It is repeated for a second, and no time goes by here.
    let still = stand_still();
    let store = refused(&server).await;
    for _ in 0..100 {
        assert_eq!(calls_of(&store, redis, charge(2)).await, 0);
    }
    still.end().await;
    time::resume();
    // Less may pass, and what can never pass is told so.
    assert!(acquire(&store, charge(1)).await.admits());
    assert_eq!(acquire(&store, charge(3)).await.outcome(), Outcome::Impossible);
    // Of another version of the limit nothing has been said.
    let raised = Charge::new(limit("spent", 3), Key::new("key"));
    assert!(acquire(&store, raised).await.admits());
}

#[tokio::test]
async fn a_repeated_refusal_says_how_long_there_is_to_wait_by_now() {
    let server = RedisServer::start();
    let still = stand_still();
    let store = refused(&server).await;
    still.end().await;
    let first = acquire(&store, charge(2)).await;
    for turn in 1..=100 {
        time::advance(Duration::from_micros(4999)).await;
        let again = acquire(&store, charge(2)).await;
        let gone = turn * 4999;
        assert_eq!(again.now(), first.now() + gone);
        let waits = [&first, &again].map(|decision| decision.retry_after().unwrap().as_micros() as u64);
        assert_eq!(waits[1] + gone, waits[0]);
        let resets = [&first, &again].map(|decision| decision.tiers()[0].verdict().reset_after().as_micros() as u64);
        assert_eq!(resets[1] + gone, resets[0]);
    }
}

#[tokio::test]
async fn other_tiers_on_other_terms_are_asked_about() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let still = stand_still();
    let store = refused(&server).await;
    let mut group = Charges::from(Charge::new(limit("other", 10), Key::new("key")));
    group.push(charge(2)).unwrap();
    assert_eq!(calls_of(&store, redis, group.clone()).await, 1);
    assert_eq!(calls_of(&store, redis, group.clone()).await, 0);
    still.end().await;
    time::resume();
    let mut dearer = Charges::from(Charge::new(limit("other", 10), Key::new("key")).cost(2));
    dearer.push(charge(2)).unwrap();
    assert_eq!(calls_of(&store, redis, dearer).await, 1);
    assert!(acquire(&store, charge(2).shadow()).await.admits());
}

#[tokio::test]
async fn what_is_given_back_here_shows_at_once() {
    let server = RedisServer::start();
    let store = refused(&server).await;
    store.apply(Operation::Reset(charge(1).into())).await.unwrap();
    let mut decision = acquire(&store, charge(2)).await;
    assert!(decision.admits());
    assert!(!acquire(&store, charge(1)).await.admits());
    let receipt = decision.take_receipt().unwrap();
    store.apply(Operation::Refund(receipt)).await.unwrap();
    assert!(acquire(&store, charge(1)).await.admits());
}

/// Whether it was given back is unknown, so Redis is asked.
#[tokio::test]
async fn what_may_have_been_given_back_is_asked_about() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let store = server.store().deadline(Duration::from_millis(200)).build().unwrap();
    let still = stand_still();
    assert!(acquire(&store, charge(2)).await.admits());
    assert_eq!(calls_of(&store, redis, charge(2)).await, 1);
    assert_eq!(calls_of(&store, redis, charge(2)).await, 0);
    still.end().await;
    ask::<()>(redis, "CLIENT PAUSE 600000 WRITE");
    let reset = store.apply(Operation::Reset(charge(1).into())).await;
    time::resume();
    assert!(reset.unwrap_err().may_have_charged());
    // It never comes to be done, but nobody can know that.
    ask::<()>(redis, "CLIENT KILL TYPE normal");
    ask::<()>(redis, "CLIENT UNPAUSE");
    let before = calls(redis, "evalsha");
    // The connections are gone, which a call or two find out.
    let asked = async || store.apply(Operation::Acquire(charge(2).into())).await.is_ok();
    eventually("it is answered", asked).await;
    assert!(calls(redis, "evalsha") > before);
}

#[tokio::test]
async fn what_is_given_back_elsewhere_shows_within_a_second() {
    let server = RedisServer::start();
    let (here, elsewhere) = (server.store().build().unwrap(), server.store().build().unwrap());
    let still = stand_still();
    assert!(acquire(&here, charge(2)).await.admits());
    assert!(!acquire(&here, charge(2)).await.admits());
    still.end().await;
    reset_by(&elsewhere);
    assert!(!acquire(&here, charge(2)).await.admits());
    time::advance(Duration::from_secs(1)).await;
    time::resume();
    assert!(acquire(&here, charge(2)).await.admits());
}

/// Where a charge may be given back any moment, nobody is refused for a second longer.
#[tokio::test]
async fn what_may_yet_be_given_back_is_asked_about_every_time() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    // A request says when it is being served, and waits for what is to come of it.
    type Login = (oneshot::Sender<()>, oneshot::Receiver<bool>);
    let [here, elsewhere] = [(); 2].map(|()| {
        let store = server.store().build().unwrap();
        let layer = RateLimitLayer::token_bucket("logins", Quota::per_day(1), Global, store)
            .refund_if(|right: &bool| *right)
            .respond_with(AsError);
        layer.layer(service_fn(async |(begun, outcome): Login| {
            begun.send(()).unwrap();
            outcome.await.map_err(BoxError::from)
        }))
    });
    let login = || {
        let ((begin, begun), (outcome, known)) = (oneshot::channel(), oneshot::channel());
        ((begin, known), begun, outcome)
    };
    let (request, begun, outcome) = login();
    let served = tokio::spawn(elsewhere.oneshot(request));
    begun.await.unwrap();
    for _ in 0..3 {
        let before = calls(redis, "evalsha");
        assert!(here.clone().oneshot(login().0).await.is_err());
        assert_eq!(calls(redis, "evalsha"), before + 1);
    }
    outcome.send(true).unwrap();
    assert!(served.await.unwrap().unwrap());
    let (request, begun, outcome) = login();
    let served = tokio::spawn(here.oneshot(request));
    begun.await.unwrap();
    outcome.send(true).unwrap();
    assert!(served.await.unwrap().unwrap());
}

#[tokio::test]
async fn it_can_be_turned_off_and_is_off_on_a_clock_of_ones_own() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    for builder in [
        server.store().repeat_refusals(false),
        server.store().clock(ManualClock::at(0)),
    ] {
        let store = builder.build().unwrap();
        store.apply(Operation::Reset(charge(1).into())).await.unwrap();
        assert!(acquire(&store, charge(2)).await.admits());
        for _ in 0..3 {
            assert_eq!(calls_of(&store, redis, charge(2)).await, 1);
        }
    }
}
