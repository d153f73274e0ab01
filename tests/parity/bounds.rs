//! Limits at their bounds: numbers just below 2^53, from which on Lua's doubles do not represent all integers.

use std::{cell::RefCell, time::Duration};

use proptest::{collection::vec, prelude::*, sample::select};
use tollgate::{
    Algorithm, AnyAlgorithm, Decision, FixedWindow, LeakyBucket, Micros, Quota, SlidingCounter, SlidingLog, TokenBucket,
};

use support::{
    property::holds,
    redis::RedisServer,
    stores::AnyStore,
    strategies::{Elapse, Size},
};

use super::{
    assert_same_states,
    replay::Replay,
    trace::{Action, Steps, Tier},
};

/// The longest window, ten years.
const MAX_WINDOW: Micros = 315_360_000_000_000;

/// The largest capacity of a bucket with this rate: its backlog is below 2^52 units when it is full.
fn largest_capacity(limit: u32, window: Micros) -> u32 {
    let unit = window / gcd(limit.into(), window);
    u32::try_from(((1 << 52) - 1) / unit).unwrap_or(u32::MAX)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn any_limit() -> impl Strategy<Value = u32> {
    prop_oneof![
        1 => select(vec![1, 2, 3]),
        2 => u32::MAX - 2..=u32::MAX,
        4 => 1..=u32::MAX,
    ]
}

fn any_window() -> impl Strategy<Value = Micros> {
    prop_oneof![
        1 => 1..=3_u64,
        // The capacity that fits is about the largest cost, for windows from 2^20 on.
        4 => (1_u64 << 20)..(1 << 26),
        1 => (1_u64 << 26)..=MAX_WINDOW,
        2 => MAX_WINDOW - 2..=MAX_WINDOW,
    ]
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    TokenBucket,
    Policing,
    Queue,
    FixedWindow,
    AnchoredWindow,
    SlidingLog,
    SlidingCounter,
    QueueWithMaxWait,
}

/// Saved seeds draw an index into this list.
const KINDS: [Kind; 8] = [
    Kind::TokenBucket,
    Kind::Policing,
    Kind::Queue,
    Kind::FixedWindow,
    Kind::AnchoredWindow,
    Kind::SlidingLog,
    Kind::SlidingCounter,
    Kind::QueueWithMaxWait,
];

/// Buckets with the largest capacities that fit, and windows with the largest limits.
fn any_algorithm(kind: Kind, window: Micros) -> impl Strategy<Value = AnyAlgorithm> {
    (any_limit(), 0..3_u32).prop_map(move |(limit, below)| {
        let limit = if kind == Kind::SlidingLog {
            limit % 3000 + 1
        } else {
            limit
        };
        let quota = Quota::new(limit, Duration::from_micros(window));
        let capacity = largest_capacity(limit, window).saturating_sub(below).max(1);
        let leaky = LeakyBucket::with_capacity(quota, capacity);
        match kind {
            Kind::TokenBucket => TokenBucket::with_capacity(quota, capacity).to_any(),
            Kind::Policing => leaky.policing().to_any(),
            Kind::Queue => leaky.to_any(),
            Kind::FixedWindow => FixedWindow::new(quota).to_any(),
            Kind::AnchoredWindow => FixedWindow::new(quota).anchored().to_any(),
            Kind::SlidingLog => SlidingLog::new(quota).to_any(),
            Kind::SlidingCounter => SlidingCounter::new(quota).to_any(),
            Kind::QueueWithMaxWait => leaky.max_wait(Duration::from_micros(MAX_WINDOW)).to_any(),
        }
    })
}

fn any_tier() -> impl Strategy<Value = Tier> {
    let versions =
        (0..KINDS.len(), any_window()).prop_flat_map(|(kind, window)| vec(any_algorithm(KINDS[kind], window), 3));
    versions.prop_map(|versions| Tier {
        versions,
        shadow: false,
    })
}

fn any_size() -> impl Strategy<Value = Size> {
    prop_oneof![
        2 => Just(Size::Units(1)),
        2 => Just(Size::Percent(100)),
        1 => (0..100_u64).prop_map(Size::Percent),
        1 => Just(Size::Units(u32::MAX)),
    ]
}

/// Costs after the fact, most of them twice the capacity or more.
fn any_settlement() -> impl Strategy<Value = Size> {
    prop_oneof![
        1 => any_size(),
        2 => Just(Size::Percent(200)),
        2 => Just(Size::Units(u32::MAX)),
    ]
}

fn any_action() -> impl Strategy<Value = Action> {
    let which = any::<usize>;
    prop_oneof![
        6 => vec((Just(true), any_size()), 3).prop_map(Action::Acquire),
        6 => (which(), [any_settlement(), any_settlement()], any::<bool>())
            .prop_map(|(which, to, latest)| Action::Settle(which, to, latest)),
        1 => (which(), any::<bool>()).prop_map(|(which, latest)| Action::Refund(which, latest)),
        1 => (0..3_usize).prop_map(Action::Change),
        1 => (0..3_u64).prop_map(|micros| Action::Back(Elapse::Micros(micros))),
    ]
}

/// Mostly microseconds, so that backlogs stay near their bound.
fn any_elapse() -> impl Strategy<Value = Elapse> {
    prop_oneof![
        6 => (0..4_u64).prop_map(Elapse::Micros),
        1 => (0..200_u64).prop_map(Elapse::Percent),
    ]
}

fn any_trace() -> impl Strategy<Value = (Vec<Tier>, Steps)> {
    (vec(any_tier(), 1..3), vec((any_elapse(), any_action()), 1..16))
}

fn agree(server: &RedisServer, traces: u32) {
    let failures = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/regressions_at_bounds.txt");
    let (redis, client) = (AnyStore::redis(server, "rate_limit"), RefCell::new(server.client()));
    holds(traces, failures, &any_trace(), async |number, (tiers, steps)| {
        let (by_memory, memory) = AnyStore::memory();
        let stores = [by_memory, redis.clone()];
        let mut inspect =
            |replay: &Replay<'_>, _: &Decision| assert_same_states(&memory, &mut client.borrow_mut(), replay);
        Replay::new(&stores, &tiers, number).run(&steps, &mut inspect).await;
    });
}

#[test]
fn memory_and_redis_agree_at_the_bounds() {
    agree(&RedisServer::start(), 3000);
}

#[test]
fn memory_and_valkey_agree_at_the_bounds() {
    agree(&RedisServer::valkey(), 1000);
}

/// A backlog so close to 2^53 that the next multiple of the drain is beyond it, so its quotient cannot be rounded up by adding first.
#[tokio::test]
async fn a_bucket_settled_to_twice_the_largest_capacity_agrees() {
    let quota = Quota::new(578_138_613, Duration::from_micros(10_598_232));
    let capacity = 1_274_816_297;
    let leaky = LeakyBucket::with_capacity(quota, capacity);
    let acquire = |size| Action::Acquire(vec![(true, size)]);
    let actions = [
        acquire(Size::Percent(100)),
        Action::Settle(0, [Size::Units(u32::MAX); 2], true),
        acquire(Size::Units(0)),
        acquire(Size::Units(1)),
        acquire(Size::Percent(100)),
    ];
    let steps = actions.into_iter().map(|action| (Elapse::Micros(0), action)).collect();
    for server in RedisServer::each() {
        let redis = AnyStore::redis(&server, "rate_limit");
        let bucket = TokenBucket::with_capacity(quota, capacity);
        for (case, algorithm) in [bucket.to_any(), leaky.policing().to_any(), leaky.to_any()]
            .into_iter()
            .enumerate()
        {
            let tiers = [Tier {
                versions: vec![algorithm],
                shadow: false,
            }];
            let (by_memory, memory) = AnyStore::memory();
            let mut client = server.client();
            let mut inspect = |replay: &Replay<'_>, _: &Decision| assert_same_states(&memory, &mut client, replay);
            Replay::new(&[by_memory, redis.clone()], &tiers, case as u64)
                .run(&steps, &mut inspect)
                .await;
        }
    }
}
