//! Concurrency limits that nodes share: what is held, released, lost, corrected and renewed.

use std::time::Duration;

use futures_util::FutureExt;
use tokio::time;
use tollgate::{
    Charge, Charges, Concurrency, Decision, FixedWindow, Key, Limit, ManualClock, Operation, Quota, RedisStore, Store,
    StoreError, redis::Connection,
};

use support::{
    cluster::Cluster,
    leaks::tasks,
    proxy::Proxy,
    redis::{DEADLINE, RedisServer, acquire, calls, info, poll_once, query, stored, stored_all},
    wait::eventually,
};

/// What a dead node holds expires after an hour, long after the test.
fn limit(slots: u32) -> Limit {
    let hour = Duration::from_secs(3600);
    Limit::new("uploads", Concurrency::new(slots).time_to_live(hour))
}

fn charge(limit: &Limit) -> Charge {
    Charge::new(limit.clone(), Key::GLOBAL)
}

/// The free slots.
async fn free(store: &RedisStore, limit: &Limit) -> u64 {
    let peek = store.apply(Operation::Peek(charge(limit).with_cost(0).into())).await;
    peek.unwrap().tiers()[0].verdict().remaining()
}

/// What Redis counts of all holders.
fn counted(server: &RedisServer, store: &RedisStore, limit: &Limit) -> u64 {
    let state = stored(&mut server.client(), &store.redis_key(limit, &Key::GLOBAL)).unwrap();
    let numbers: Vec<u64> = state.split(' ').map(|number| number.parse().unwrap()).collect();
    numbers.chunks(5).map(|holder| holder[2]).sum()
}

async fn release(store: &RedisStore, mut decision: Decision) -> Decision {
    let receipt = decision.take_receipt().unwrap();
    store.apply(Operation::Refund(receipt)).await.unwrap()
}

/// Lets some time pass on the clock of the store, and waits until the key is renewed.
async fn await_renewal(clock: &ManualClock, elapsed: Duration, redis: &mut Connection, key: &str) {
    let before = stored(redis, key);
    clock.advance(elapsed);
    eventually("it is renewed", async || stored(redis, key) != before).await;
}

#[tokio::test]
async fn nodes_hold_the_limit_together() {
    let server = RedisServer::start();
    let nodes: Vec<_> = (0..3).map(|_| server.store().build().unwrap()).collect();
    let limit = limit(5);
    let mut held = Vec::new();
    for request in 0..15 {
        let decision = acquire(&nodes[request % 3], charge(&limit)).await;
        if decision.admits() {
            held.push((request % 3, decision));
        } else {
            assert_eq!(decision.retry_after(), Some(Duration::from_secs(1)));
        }
    }
    assert_eq!(held.len(), 5);
    for (freed, (node, decision)) in held.into_iter().enumerate() {
        let after = release(&nodes[node], decision).await;
        assert_eq!(after.tiers()[0].verdict().remaining(), freed as u64 + 1);
    }
    assert_eq!(free(&nodes[0], &limit).await, 5);
}

#[tokio::test]
async fn costs_are_held_and_released_as_a_whole() {
    let server = RedisServer::start();
    let (store, limit) = (server.store().build().unwrap(), limit(5));
    let heavy = acquire(&store, charge(&limit).with_cost(4)).await;
    assert!(!acquire(&store, charge(&limit).with_cost(2)).await.admits());
    let too_heavy = acquire(&store, charge(&limit).with_cost(6)).await;
    assert_eq!(too_heavy.outcome(), tollgate::Outcome::Impossible);
    let light = acquire(&store, charge(&limit)).await;
    assert_eq!(free(&store, &limit).await, 0);
    release(&store, heavy).await;
    assert_eq!(free(&store, &limit).await, 4);
    release(&store, light).await;
    assert_eq!(free(&store, &limit).await, 5);
}

#[tokio::test]
async fn rate_and_concurrency_are_charged_all_or_none() {
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    let uploads = limit(1);
    let minute = Limit::new("minute", FixedWindow::new(Quota::per_day(2)).anchored());
    let charges = || {
        let mut charges = Charges::from(charge(&minute));
        charges.push(charge(&uploads)).unwrap();
        charges
    };
    let remaining = |decision: &Decision| [0, 1].map(|tier: usize| decision.tiers()[tier].verdict().remaining());
    let first = acquire(&store, charges()).await;
    assert_eq!((first.admits(), remaining(&first)), (true, [1, 0]));
    // Denied by the slots: the window is not charged.
    let second = acquire(&store, charges()).await;
    assert_eq!((second.admits(), remaining(&second)), (false, [1, 0]));
    // A settle releases the slot, and keeps the charge of the window.
    let mut first = first;
    let receipt = first.take_receipt().unwrap();
    let settled = store.apply(Operation::Settle(receipt)).await.unwrap();
    assert_eq!(remaining(&settled), [1, 1]);
    let third = acquire(&store, charges()).await;
    assert!(third.admits());
    release(&store, third).await;
    // The refund has given the window back too.
    let last = [acquire(&store, charges()).await, acquire(&store, charge(&minute)).await];
    assert_eq!(last.map(|decision| decision.admits()), [true, false]);
}

#[tokio::test]
async fn a_denial_is_not_cached() {
    let server = RedisServer::start();
    let nodes = [(); 2].map(|()| server.store().build().unwrap());
    let limit = limit(1);
    let held = acquire(&nodes[0], charge(&limit)).await;
    assert!(!acquire(&nodes[1], charge(&limit)).await.admits());
    release(&nodes[0], held).await;
    assert!(acquire(&nodes[1], charge(&limit)).await.admits());
}

#[tokio::test]
async fn a_cancelled_acquire_holds_nothing() {
    let server = RedisServer::start();
    let (store, limit) = (server.store().build().unwrap(), limit(3));
    let other = server.store().build().unwrap();
    // On a connection that exists, an acquire is sent when it is first polled.
    store.check().await.unwrap();
    for _ in 0..20 {
        let mut decision = store.apply(Operation::Acquire(charge(&limit).into()));
        poll_once(&mut decision).await;
        drop(decision);
    }
    eventually("all slots are free", async || free(&other, &limit).await == 3).await;
}

/// As in the background work of a handler, which holds the permit of its request.
#[tokio::test]
async fn what_a_thread_without_a_runtime_releases_is_free() {
    let server = RedisServer::start();
    let [store, other] = [(); 2].map(|()| server.store().build().unwrap());
    let limit = limit(2);
    let mut held = acquire(&store, charge(&limit)).await;
    let release = store.apply(Operation::Refund(held.take_receipt().unwrap()));
    let released = std::thread::spawn(|| release.now_or_never()).join().unwrap();
    assert!(matches!(released, Some(Err(StoreError::NoRuntime))));
    eventually("all slots are free", async || free(&other, &limit).await == 2).await;
}

/// A task that renews what no request can release any more would hold it for ever.
#[tokio::test]
async fn a_dropped_store_leaves_no_task() {
    let server = RedisServer::start();
    let limit = Limit::new("uploads", Concurrency::new(2).time_to_live(Duration::from_secs(1)));
    let store = server.store().build().unwrap();
    assert!(acquire(&store, charge(&limit)).await.admits());
    assert!(tasks() > 0);
    drop(store);
    eventually("the tasks have ended", async || tasks() == 0).await;
}

/// Redis is blocked by a call for as long as it takes, so no call renews more than half of what a call may contain.
#[tokio::test]
async fn many_keys_are_renewed_in_many_calls() {
    const KEYS: u64 = 640;
    let server = RedisServer::start();
    let (store, limit) = (server.store().build().unwrap(), limit(2));
    let mut names = Vec::new();
    for user in 0..KEYS {
        let key = Key::named("user", user);
        names.push(store.redis_key(&limit, &key));
        assert!(acquire(&store, Charge::new(limit.clone(), key)).await.admits());
    }
    let mut redis = server.client();
    let before = stored_all(&mut redis, &names);
    query::<u64>(&mut redis, "CLIENT KILL TYPE normal");
    let calls_before = calls(&mut redis, "evalsha");
    eventually("the node has connected again, and all keys are renewed", async || {
        let peek = store.apply(Operation::Peek(charge(&limit).into()));
        drop(peek.await);
        let now = stored_all(&mut redis, &names);
        now.iter().zip(&before).all(|(now, before)| now != before)
    })
    .await;
    assert!(calls(&mut redis, "evalsha") - calls_before >= KEYS / 64);
}

#[tokio::test]
async fn lost_replies_are_corrected_at_once() {
    let server = RedisServer::start();
    let mut proxy = Proxy::to(server.port());
    let node = RedisStore::builder()
        .url(&proxy.url())
        .deadline(DEADLINE)
        .build()
        .unwrap();
    let other = server.store().build().unwrap();
    let limit = limit(3);
    let kept = acquire(&node, charge(&limit)).await;
    let released = acquire(&node, charge(&limit)).await;
    proxy.blackhole();
    // An acquire and a release that may or may not arrive. The paused clock advances to the deadline when the runtime is idle.
    time::pause();
    assert!(node.apply(Operation::Acquire(charge(&limit).into())).await.is_err());
    let mut released = released;
    let receipt = released.take_receipt().unwrap();
    assert!(node.apply(Operation::Refund(receipt)).await.is_err());
    time::resume();
    proxy.heal();
    eventually("one slot is held", async || free(&other, &limit).await == 2).await;
    release(&node, kept).await;
    assert_eq!(free(&other, &limit).await, 3);
}

#[tokio::test]
async fn what_a_flushed_redis_has_lost_is_restored() {
    let server = RedisServer::start();
    let limit = Limit::new("uploads", Concurrency::new(3).time_to_live(Duration::from_secs(3)));
    let nodes = [(); 2].map(|()| server.store().build().unwrap());
    let held = [
        acquire(&nodes[0], charge(&limit)).await,
        acquire(&nodes[1], charge(&limit)).await,
    ];
    query::<()>(&mut server.client(), "FLUSHALL");
    // At the latest with the next renewals.
    eventually("both nodes have renewed", async || free(&nodes[0], &limit).await == 1).await;
    let [first, second] = held;
    release(&nodes[0], first).await;
    release(&nodes[1], second).await;
    assert_eq!(free(&nodes[0], &limit).await, 3);
}

#[tokio::test]
async fn a_restarted_redis_is_told_what_is_held() {
    let mut server = RedisServer::start();
    let limit = limit(2);
    let node = server.store().build().unwrap();
    let held = acquire(&node, charge(&limit)).await;
    server.restart();
    let other = server.store().build().unwrap();
    assert_eq!(free(&other, &limit).await, 2);
    // The first call finds the connection closed, and the node connects again.
    eventually("the node is connected", async || {
        node.apply(Operation::Peek(charge(&limit).into())).await.is_ok()
    })
    .await;
    eventually("the slot is held", async || free(&other, &limit).await == 1).await;
    release(&node, held).await;
    assert_eq!(free(&other, &limit).await, 2);
}

/// Without data, Redis admits the limit once more, until the nodes have renewed.
#[tokio::test]
async fn after_a_restart_at_most_twice_the_limit_is_held() {
    let mut server = RedisServer::start();
    let limit = limit(2);
    let nodes = [(); 2].map(|()| server.store().build().unwrap());
    let mut held = Vec::new();
    for node in &nodes {
        held.push((node, acquire(node, charge(&limit)).await));
    }
    server.restart();
    let other = server.store().build().unwrap();
    let more = [
        acquire(&other, charge(&limit)).await,
        acquire(&other, charge(&limit)).await,
    ];
    assert!(more.iter().all(Decision::admits));
    assert!(!acquire(&other, charge(&limit)).await.admits());
    for node in &nodes {
        eventually("the node is connected", async || {
            node.apply(Operation::Peek(charge(&limit).into())).await.is_ok()
        })
        .await;
    }
    // Now Redis knows that four slots are held: nothing is admitted before three of them are released.
    eventually("all are counted", async || counted(&server, &other, &limit) == 4).await;
    for (node, decision) in held {
        release(node, decision).await;
        assert!(!acquire(&other, charge(&limit)).await.admits());
    }
    let [first, second] = more;
    release(&other, first).await;
    assert!(acquire(&other, charge(&limit)).await.admits());
    release(&other, second).await;
}

/// Redis counts it out after the time-to-live, and admits the limit to others. When it is back, all that is held counts again.
#[tokio::test]
async fn a_node_that_is_cut_off_exceeds_the_limit_by_what_it_holds() {
    let (server, clock) = (RedisServer::start(), ManualClock::at(0));
    let mut proxy = Proxy::to(server.port());
    let time_to_live = Duration::from_secs(30);
    let limit = Limit::new("uploads", Concurrency::new(3).time_to_live(time_to_live));
    let cut_off = server.store().url(&proxy.url()).clock(clock.clone()).build().unwrap();
    let other = server.store().clock(clock.clone()).build().unwrap();
    let [first, second] = [
        acquire(&cut_off, charge(&limit)).await,
        acquire(&cut_off, charge(&limit)).await,
    ];
    // Its connections are closed, and it cannot make others.
    proxy.stop_accepting();
    proxy.cut();
    clock.advance(time_to_live - Duration::from_micros(1));
    assert_eq!(free(&other, &limit).await, 1);
    clock.advance(Duration::from_micros(1));
    let mut held = Vec::new();
    for _ in 0..3 {
        held.push(acquire(&other, charge(&limit)).await);
    }
    assert!(held.iter().all(Decision::admits));
    assert!(!acquire(&other, charge(&limit)).await.admits());
    // New requests of the node are not decided: its failure mode applies.
    assert!(cut_off.apply(Operation::Acquire(charge(&limit).into())).await.is_err());

    proxy.heal();
    eventually("the node is connected", async || {
        cut_off.apply(Operation::Peek(charge(&limit).into())).await.is_ok()
    })
    .await;
    eventually("all five are counted", async || counted(&server, &other, &limit) == 5).await;
    for decision in [first, second] {
        release(&cut_off, decision).await;
        assert!(!acquire(&other, charge(&limit)).await.admits());
    }
    release(&other, held.remove(0)).await;
    assert!(acquire(&other, charge(&limit)).await.admits());
}

/// What is held is renewed before it expires on the clock of the store.
#[tokio::test]
async fn a_slot_is_held_for_longer_than_the_time_to_live() {
    const SECOND: Duration = Duration::from_secs(1);
    let server = RedisServer::start();
    let clock = ManualClock::at(1_700_000_000_000_000);
    let store = server.store().clock(clock.clone()).build().unwrap();
    let limit = Limit::new("uploads", Concurrency::new(1).time_to_live(SECOND));
    let held = acquire(&store, charge(&limit)).await;
    let (mut redis, key) = (server.client(), store.redis_key(&limit, &Key::GLOBAL));
    for _ in 0..6 {
        await_renewal(&clock, SECOND / 2, &mut redis, &key).await;
        assert_eq!(free(&store, &limit).await, 0);
    }
    release(&store, held).await;
    assert_eq!(free(&store, &limit).await, 1);
}

/// From then on it expires sooner, so it is renewed sooner, too.
#[tokio::test]
async fn a_slot_outlives_a_shorter_time_to_live() {
    const SECOND: Duration = Duration::from_secs(1);
    let server = RedisServer::start();
    let clock = ManualClock::at(1_700_000_000_000_000);
    let store = server.store().clock(clock.clone()).build().unwrap();
    let limit = |time_to_live| Limit::new("uploads", Concurrency::new(3).time_to_live(time_to_live));
    let (long, short) = (limit(3600 * SECOND), limit(SECOND));
    let first = acquire(&store, charge(&long)).await;
    let second = acquire(&store, charge(&short)).await;
    let (mut redis, key) = (server.client(), store.redis_key(&short, &Key::GLOBAL));
    for _ in 0..4 {
        await_renewal(&clock, SECOND / 2, &mut redis, &key).await;
    }
    assert_eq!(free(&store, &short).await, 1);
    release(&store, first).await;
    release(&store, second).await;
}

#[tokio::test]
async fn a_reset_does_not_free_what_is_held() {
    let server = RedisServer::start();
    let clock = ManualClock::at(1_700_000_000_000_000);
    let store = server.store().clock(clock.clone()).build().unwrap();
    let limit = Limit::new("uploads", Concurrency::new(2).time_to_live(Duration::from_secs(3)));
    let held = acquire(&store, charge(&limit)).await;
    store.apply(Operation::Reset(charge(&limit).into())).await.unwrap();
    // The next renewal is due after a second.
    clock.advance(Duration::from_secs(1));
    eventually("it is counted again", async || free(&store, &limit).await == 1).await;
    release(&store, held).await;
    assert_eq!(free(&store, &limit).await, 2);
}

#[tokio::test]
async fn a_changed_limit_keeps_what_is_held() {
    let server = RedisServer::start();
    let store = server.store().build().unwrap();
    let held = acquire(&store, charge(&limit(2))).await;
    assert_eq!(free(&store, &limit(10)).await, 9);
    assert_eq!(free(&store, &limit(1)).await, 0);
    release(&store, held).await;
    assert_eq!(free(&store, &limit(1)).await, 1);
}

#[tokio::test]
async fn a_cluster_holds_slots_of_several_nodes_all_or_none() {
    let cluster = Cluster::start();
    let store = cluster.store().build().unwrap();
    let limits: Vec<_> = (0..4)
        .map(|index| Limit::new(&format!("limit{index}"), Concurrency::new(2)))
        .collect();
    let all = || {
        let mut charges = Charges::new();
        limits.iter().for_each(|limit| charges.push(charge(limit)).unwrap());
        charges
    };
    let first = acquire(&store, all()).await;
    let alone = acquire(&store, charge(&limits[3])).await;
    assert!(first.admits() && alone.admits());
    // The last is full, and the others are not held.
    assert!(!acquire(&store, all()).await.admits());
    for limit in &limits[..3] {
        eventually("the others are released", async || free(&store, limit).await == 1).await;
    }
    release(&store, first).await;
    release(&store, alone).await;
    for limit in &limits {
        eventually("all are free", async || free(&store, limit).await == 2).await;
    }
}

/// A primary that dies has acknowledged writes that it did not replicate. Then Redis knows the node, but counts less than it holds.
#[tokio::test]
async fn what_a_failover_has_lost_is_restored() {
    let mut cluster = Cluster::start();
    let [node, other] = [(); 2].map(|()| cluster.store().build().unwrap());
    let limit = limit(4);
    let slot = cluster.slot_of(&node.redis_key(&limit, &Key::GLOBAL));
    let primary = cluster.node_of(slot);
    let (port, mut redis) = (cluster.nodes[primary].port(), cluster.client_of(slot));
    let is_replica =
        |server: &&RedisServer| info(&mut server.client(), "replication", "master_port:") == u64::from(port);
    let mut replica = cluster.nodes.iter().find(is_replica).unwrap().client();

    let mut held = vec![acquire(&node, charge(&limit)).await];
    eventually("it is replicated", async || {
        let written = info(&mut redis, "replication", "master_repl_offset:");
        info(&mut replica, "replication", "slave_repl_offset:") >= written
    })
    .await;
    // The replica cannot connect again.
    query::<()>(&mut replica, "CONFIG SET masterauth none");
    query::<u64>(&mut redis, "CLIENT KILL TYPE replica");
    for _ in 0..2 {
        held.push(acquire(&node, charge(&limit)).await);
    }
    assert_eq!(free(&other, &limit).await, 1);
    cluster.nodes[primary].kill();
    cluster.await_failover(slot, primary);
    for store in [&node, &other] {
        eventually("the nodes are connected", async || {
            store.apply(Operation::Peek(charge(&limit).into())).await.is_ok()
        })
        .await;
    }
    eventually("all are held again", async || free(&other, &limit).await == 1).await;
    for held in held {
        release(&node, held).await;
    }
    assert_eq!(free(&other, &limit).await, 4);
}
