//! Leases: busy keys are decided by the node, and never more is admitted than without.

use std::time::Duration;

use axum::http::Request;
use tokio::time;
use tollgate::{
    Charge, Charges, Decision, FixedWindow, Key, Limit, Operation, Quota, RedisStore, RuleSet, SlidingCounter,
    SlidingLog, Store, TokenBucket,
};

use support::{
    redis::{RedisServer, calls, poll_once, query},
    sentinel::Sentinels,
    wait::{eventually, stop_clock},
};

const LEASE: Duration = Duration::from_secs(1);

/// So long that none ends during a test.
const WINDOW: Duration = Duration::from_secs(9 * 365 * 24 * 60 * 60);

fn limit(name: &str, requests: u32) -> Limit {
    Limit::new(name, SlidingCounter::new(Quota::new(requests, WINDOW))).lease(LEASE)
}

/// None of its units is returned during a test.
fn long_lease(name: &str, requests: u32) -> Limit {
    limit(name, requests).lease(60 * LEASE)
}

fn charge(limit: &Limit) -> Charge {
    Charge::new(limit.clone(), Key::GLOBAL)
}

async fn acquire(store: &RedisStore, charges: impl Into<Charges>) -> Decision {
    store.apply(Operation::Acquire(charges.into())).await.unwrap()
}

/// What remains in Redis, without what nodes hold.
async fn remaining(store: &RedisStore, limit: &Limit) -> u64 {
    let peek = store.apply(Operation::Peek(charge(limit).with_cost(0).into())).await;
    peek.unwrap().tiers()[0].verdict().remaining()
}

#[tokio::test]
async fn a_busy_key_is_decided_without_redis() {
    let server = RedisServer::start();
    let (store, limit) = (server.store().build().unwrap(), long_lease("everyone", 1_000_000));
    let mut redis = server.client();
    for _ in 0..1000 {
        assert!(acquire(&store, charge(&limit)).await.admits());
    }
    let calls = calls(&mut redis, "evalsha");
    assert!(calls < 100, "{calls}");
    // Everything that is not held is spent, and nothing is held after the return.
    store.return_leases().await;
    assert_eq!(remaining(&store, &limit).await, 1_000_000 - 1000);
}

#[tokio::test]
async fn nodes_admit_the_limit_together() {
    let server = RedisServer::start();
    for limit in [
        limit("counter", 500),
        Limit::new("window", FixedWindow::new(Quota::new(500, WINDOW))).lease(LEASE),
        Limit::new("log", SlidingLog::new(Quota::new(500, WINDOW))).lease(LEASE),
        Limit::new("bucket", TokenBucket::new(Quota::new(500, WINDOW))).lease(LEASE),
    ] {
        let nodes: Vec<_> = (0..3).map(|_| server.store().build().unwrap()).collect();
        let mut admitted = 0;
        for request in 0..3000 {
            let decision = acquire(&nodes[request % 3], charge(&limit)).await;
            admitted += u64::from(decision.admits());
        }
        // What one node holds, the others cannot use; after its return, they can.
        for node in &nodes {
            node.return_leases().await;
        }
        let capacity = u64::from(limit.algorithm().capacity());
        assert!(admitted <= capacity, "{limit}: {admitted}");
        while acquire(&nodes[0], charge(&limit)).await.admits() {
            admitted += 1;
        }
        nodes[0].return_leases().await;
        assert_eq!(admitted + remaining(&nodes[1], &limit).await, capacity, "{limit}");
    }
}

#[tokio::test]
async fn a_denied_request_takes_nothing_from_a_lease() {
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    let (leased, exhausted) = (
        long_lease("everyone", 1000),
        Limit::new("user", FixedWindow::new(Quota::new(1, WINDOW))),
    );
    for _ in 0..50 {
        assert!(acquire(&store, charge(&leased)).await.admits());
    }
    let both = || {
        let mut charges = Charges::from(charge(&leased));
        charges.push(charge(&exhausted)).unwrap();
        charges
    };
    assert!(acquire(&store, both()).await.admits());
    for _ in 0..50 {
        let denied = acquire(&store, both()).await;
        assert!(!denied.admits());
        assert_eq!(denied.tiers()[0].limit().name(), "everyone");
        assert_eq!(denied.tiers()[0].verdict().remaining(), 949);
    }
    store.return_leases().await;
    assert_eq!(remaining(&store, &leased).await, 949);
}

#[tokio::test]
async fn refunds_return_to_the_lease_and_then_to_redis() {
    let server = RedisServer::start();
    let (store, limit) = (server.store().build().unwrap(), limit("everyone", 1000));
    let mut receipts = Vec::new();
    for _ in 0..100 {
        receipts.extend(acquire(&store, charge(&limit)).await.take_receipt());
    }
    assert_eq!(receipts.len(), 100);
    let later = receipts.split_off(50);
    for receipt in receipts {
        store.apply(Operation::Refund(receipt)).await.unwrap();
    }
    store.return_leases().await;
    assert_eq!(remaining(&store, &limit).await, 950);
    for receipt in later {
        store.apply(Operation::Refund(receipt)).await.unwrap();
    }
    assert_eq!(remaining(&store, &limit).await, 1000);
}

#[tokio::test]
async fn what_is_held_is_spent_while_redis_is_gone() {
    let server = RedisServer::start();
    let limit =
        Limit::new("everyone", SlidingCounter::new(Quota::new(1_000_000, WINDOW))).lease(Duration::from_secs(60));
    let store = server.store().build().unwrap();
    for _ in 0..100 {
        acquire(&store, charge(&limit)).await;
    }
    // Until the lease that was asked for last has arrived.
    remaining(&store, &limit).await;
    query::<()>(&mut server.client(), "CLIENT PAUSE 600000 WRITE");
    // The paused clock advances to the deadline when the runtime is idle.
    time::pause();
    let mut spent = 0;
    while store.apply(Operation::Acquire(charge(&limit).into())).await.is_ok() {
        spent += 1;
    }
    assert!((1..1000).contains(&spent), "{spent}");
}

#[tokio::test]
async fn another_lease_time_is_another_bucket_but_the_same_window() {
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    let key = |limit: Limit| store.redis_key(&limit, &Key::GLOBAL);
    let bucket = Limit::new("all", TokenBucket::new(Quota::per_minute(600)));
    assert_eq!(
        key(bucket.lease(LEASE)),
        "rate_limit:token_bucket:all:60000000:lease1000000:global"
    );
    assert_eq!(bucket.lease(LEASE).algorithm().capacity(), 590);
    // Too small to be leased, but its capacity may change, and its state stays.
    let small = Limit::new("all", TokenBucket::new(Quota::per_minute(1))).lease(LEASE);
    assert_eq!((small.lease_time(), small.algorithm().capacity()), (None, 1));
    assert_eq!(key(small), "rate_limit:token_bucket:all:60000000:lease1000000:global");
    let counter = Limit::new("all", SlidingCounter::new(Quota::per_minute(600)));
    assert_eq!(key(counter.lease(LEASE)), key(counter));
}

/// The new primary does not know what was not replicated; what is held is spent meanwhile, and leased again from the new one.
#[tokio::test(flavor = "multi_thread")]
async fn keys_are_leased_across_a_failover() {
    let mut sentinels = Sentinels::start();
    let store = sentinels.store().build().unwrap();
    let limit = long_lease("everyone", 1_000_000);
    let old = sentinels.primary();
    for _ in 0..1000 {
        assert!(acquire(&store, charge(&limit)).await.admits());
    }
    assert!(calls(&mut sentinels.servers[old].client(), "evalsha") < 100);
    sentinels.servers[old].kill();
    let new = sentinels.await_failover(old);
    eventually("the store uses the new primary", async || {
        store.apply(Operation::Peek(charge(&limit).into())).await.is_ok()
    })
    .await;
    let before = calls(&mut sentinels.servers[new].client(), "evalsha");
    for _ in 0..1000 {
        assert!(acquire(&store, charge(&limit)).await.admits());
    }
    let calls = calls(&mut sentinels.servers[new].client(), "evalsha") - before;
    assert!(calls < 100, "{calls}");
}

#[tokio::test]
async fn a_lease_whose_reply_is_late_is_returned_whole() {
    let server = RedisServer::start();
    let lease = Duration::from_millis(20);
    let limit = Limit::new("everyone", SlidingCounter::new(Quota::new(1_000_000, WINDOW))).lease(lease);
    let store = server.store().build().unwrap();
    let mut admitted = 0;
    for _ in 0..200 {
        acquire(&store, charge(&limit)).await;
        admitted += 1;
    }
    // Longer than the lease, but not than the deadline: the calls during the pause are answered late.
    for _ in 0..3 {
        query::<()>(&mut server.client(), "CLIENT PAUSE 60 WRITE");
        for _ in 0..200 {
            acquire(&store, charge(&limit)).await;
            admitted += 1;
        }
    }
    store.return_leases().await;
    eventually("late leases are returned", async || {
        remaining(&store, &limit).await == 1_000_000 - admitted
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_is_asked_for_at_the_end_is_returned_too() {
    let server = RedisServer::start();
    for requests in 1..100 {
        let (store, limit) = (server.store().build().unwrap(), limit("everyone", 1_000_000));
        let key = Key::named("run", requests);
        let charge = || Charge::new(limit.clone(), key.clone());
        for _ in 0..requests {
            assert!(acquire(&store, charge()).await.admits());
        }
        store.return_leases().await;
        let peek = Operation::Peek(charge().with_cost(0).into());
        let peeked = store.apply(peek).await.unwrap();
        assert_eq!(peeked.tiers()[0].verdict().remaining(), 1_000_000 - requests);
    }
}

/// A tier that is not leased cannot be asked about: then the leased one decides, unless the other must not pass unchecked.
#[tokio::test]
async fn units_in_hand_decide_if_redis_fails_for_the_other_tiers() {
    let mut server = RedisServer::start();
    let store = server.store().build().unwrap();
    let leased = Limit::new("everyone", FixedWindow::new(Quota::new(1000, WINDOW))).lease(Duration::from_secs(60));
    for _ in 0..100 {
        assert!(acquire(&store, charge(&leased)).await.admits());
    }
    remaining(&store, &leased).await;
    server.kill();
    let user = |shadow: bool| {
        let charge = Charge::new(Limit::new("user", FixedWindow::new(Quota::new(9, WINDOW))), Key::GLOBAL);
        match shadow {
            true => charge.shadow(),
            false => charge,
        }
    };
    let both = |user: Charge| {
        let mut charges = Charges::from(charge(&leased));
        charges.push(user).unwrap();
        Operation::Acquire(charges)
    };
    assert!(store.apply(both(user(false))).await.is_err());
    let decision = store.apply(both(user(true))).await.unwrap();
    assert!(decision.admits() && !decision.is_unchecked());
    assert_eq!(
        decision
            .unchecked_limits()
            .map(|limit| limit.name().to_owned())
            .collect::<Vec<_>>(),
        ["user"]
    );
    assert_eq!(decision.tiers()[0].verdict().remaining(), 899);
}

/// What costs nothing has no receipt, with leases or without.
#[tokio::test]
async fn a_request_that_costs_nothing_is_up_to_redis() {
    let server = RedisServer::start();
    let (store, limit) = (server.store().build().unwrap(), limit("everyone", 1000));
    for _ in 0..50 {
        assert!(acquire(&store, charge(&limit)).await.admits());
    }
    let mut free = acquire(&store, charge(&limit).with_cost(0)).await;
    assert!(free.admits() && free.take_receipt().is_none());
}

/// A reset that Redis has not executed takes nothing from the node.
#[tokio::test]
async fn a_failed_reset_forgets_no_units() {
    let mut server = RedisServer::start();
    let store = server.store().build().unwrap();
    let limit = Limit::new("everyone", FixedWindow::new(Quota::new(1000, WINDOW))).lease(Duration::from_secs(60));
    for _ in 0..100 {
        assert!(acquire(&store, charge(&limit)).await.admits());
    }
    remaining(&store, &limit).await;
    server.kill();
    assert!(store.apply(Operation::Reset(charge(&limit).into())).await.is_err());
    assert!(acquire(&store, charge(&limit)).await.admits());
}

#[tokio::test]
async fn a_reset_forgets_the_units_of_the_node() {
    let server = RedisServer::start();
    let (store, limit) = (server.store().build().unwrap(), limit("everyone", 1000));
    for _ in 0..100 {
        assert!(acquire(&store, charge(&limit)).await.admits());
    }
    store.apply(Operation::Reset(charge(&limit).into())).await.unwrap();
    store.return_leases().await;
    assert_eq!(remaining(&store, &limit).await, 1000);
}

/// A request that was sent keeps its charges if its client disconnects: in the tiers in hand, too.
#[tokio::test]
async fn a_cancelled_request_keeps_its_units_if_it_was_sent() {
    let server = RedisServer::start();
    let (store, leased) = (server.store().build().unwrap(), long_lease("everyone", 1000));
    let user = Limit::new("user", FixedWindow::new(Quota::new(9, WINDOW)));
    for _ in 0..50 {
        assert!(acquire(&store, charge(&leased)).await.admits());
    }
    // Until the lease that was asked for last has arrived.
    remaining(&store, &leased).await;
    query::<()>(&mut server.client(), "CLIENT PAUSE 600000 WRITE");
    let mut charges = Charges::from(charge(&leased));
    charges.push(charge(&user)).unwrap();
    let mut decision = store.apply(Operation::Acquire(charges));
    poll_once(&mut decision).await;
    eventually("it is sent", async || {
        let blocked: String = query(&mut server.client(), "INFO clients");
        blocked.contains("blocked_clients:1")
    })
    .await;
    drop(decision);
    query::<()>(&mut server.client(), "CLIENT UNPAUSE");
    eventually("it is charged", async || remaining(&store, &user).await == 8).await;
    store.return_leases().await;
    assert_eq!(remaining(&store, &leased).await, 1000 - 51);
}

/// The task that returns units was on a runtime that is not driven any more: requests on another runtime start another task.
#[test]
fn units_are_returned_although_the_first_runtime_has_stopped() {
    let server = RedisServer::start();
    let (store, everyone, other) = (
        server.store().deadline(Duration::from_secs(5)).build().unwrap(),
        limit("everyone", 1_000_000),
        limit("other", 1_000_000),
    );
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (first, second) = (runtime().unwrap(), runtime().unwrap());
    let mut acquired = 0;
    first.block_on(eventually("units are held", async || {
        assert!(acquire(&store, charge(&everyone)).await.admits());
        acquired += 1;
        remaining(&store, &everyone).await < 1_000_000 - acquired
    }));
    second.block_on(eventually("the units are returned", async || {
        // The connections of the first runtime fail.
        _ = store.apply(Operation::Acquire(charge(&other).into())).await;
        let peek = store
            .apply(Operation::Peek(charge(&everyone).with_cost(0).into()))
            .await;
        peek.is_ok_and(|peeked| peeked.tiers()[0].verdict().remaining() == 1_000_000 - acquired)
    }));
    drop(first);
}

/// Units that are returned clear no cached denial of another key.
#[tokio::test]
async fn denials_stay_cached_while_units_are_returned() {
    let server = RedisServer::start();
    let (store, leased) = (server.store().build().unwrap(), limit("everyone", 1000));
    let exhausted = Limit::new("exhausted", FixedWindow::new(Quota::new(1, WINDOW)));
    for _ in 0..50 {
        assert!(acquire(&store, charge(&leased)).await.admits());
    }
    // Denials are cached for a second, and the clock is paused here.
    let still = stop_clock();
    assert!(acquire(&store, charge(&exhausted)).await.admits());
    assert!(!acquire(&store, charge(&exhausted)).await.admits());
    store.return_leases().await;
    let mut redis = server.client();
    let before = calls(&mut redis, "evalsha");
    assert!(!acquire(&store, charge(&exhausted)).await.admits());
    assert_eq!(calls(&mut redis, "evalsha"), before);
    still.end().await;
}

/// Without a layer there is no failure mode: a request fails if Redis cannot decide about one of its limits.
#[tokio::test]
async fn charges_of_rules_fail_if_one_cannot_be_checked() {
    let limit = |name, fields| {
        format!("[[limit]]\nname = '{name}'\nalgorithm = 'sliding_counter'\nlimit = 1000000\nwindow = '1d'\n{fields}\n")
    };
    let file = limit("everyone", "key = 'global'\nlease = '1m'") + &limit("user", "key = 'header:x-user-id'");
    let (mut server, rules) = (RedisServer::start(), RuleSet::parse(&file).unwrap());
    let store = server.store().build().unwrap();
    let request = Request::builder().header("x-user-id", "alice").body(()).unwrap();
    let acquire = || store.apply(Operation::Acquire(rules.charges(&request).unwrap()));
    for _ in 0..100 {
        assert!(acquire().await.unwrap().admits());
    }
    // Until the lease that was asked for last has arrived.
    remaining(&store, &rules.limits()[0]).await;
    server.kill();
    assert!(acquire().await.is_err());
}
