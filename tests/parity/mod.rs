//! Memory, Redis and Valkey return the same verdicts and store the same state on random traces.

mod bounds;
mod cluster;
mod concurrency;
mod replay;
mod trace;

use std::cell::RefCell;

use replay::Replay;
use support::{
    property::holds,
    redis::{RedisServer, stored_all, time},
    stores::AnyStore,
    strategies::{Elapse, Size},
};
use tollgate::redis::{Connection, cmd};
use tollgate::{Algorithm, Decision, Limit, MemoryStore, Micros, Quota, SlidingLog, State};
use trace::{Action, Steps, Tier, any_trace};

/// Replays this many random traces, numbered so that each can use separate keys.
fn run(traces: u32, replay: impl AsyncFn(u64, &[Tier], Steps)) {
    let failures = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/regressions.txt");
    holds(traces, failures, &any_trace(), async |number, (tiers, steps)| {
        replay(number, &tiers, steps).await;
    });
}

/// Asserts that every tier's state is equal in both stores. Returns the latest expiry time that has passed.
fn assert_same_states(memory: &MemoryStore, client: &mut Connection, replay: &Replay<'_>) -> Micros {
    let name = |limit: &Limit| format!("rate_limit:{limit}:{}", replay.key);
    let names: Vec<String> = replay.limits.iter().map(name).collect();
    let expiry = |(limit, stored): (&Limit, Option<String>)| {
        let state = memory.state(limit, &replay.key);
        assert_eq!(state.as_ref().map(State::to_string), stored, "the state of {limit}");
        state.map_or(0, |state| limit.algorithm().expires_at(&state))
    };
    let expiries = replay.limits.iter().zip(stored_all(client, &names)).map(expiry);
    expiries.filter(|expiry| *expiry <= replay.latest).max().unwrap_or(0)
}

#[test]
fn memory_and_redis_agree() {
    agree(&RedisServer::start(), 10_000);
}

#[test]
fn memory_and_valkey_agree() {
    agree(&RedisServer::valkey(), 5000);
}

/// Several tiers, costs, denials, refunds, settles, resets, changed limits, and a clock that goes back.
fn agree(server: &RedisServer, traces: u32) {
    let (redis, client) = (AnyStore::redis(server, "rate_limit"), RefCell::new(server.client()));
    run(traces, async |number, tiers, steps| {
        let (by_memory, memory) = AnyStore::memory();
        let stores = [by_memory, redis.clone()];
        let mut inspect =
            |replay: &Replay<'_>, _: &Decision| assert_same_states(&memory, &mut client.borrow_mut(), replay);
        Replay::new(&stores, tiers, number).run(&steps, &mut inspect).await;
    });
}

/// The largest log, full and then settled to twice its limit.
#[tokio::test]
async fn the_largest_log_agrees() {
    let algorithm = SlidingLog::new(Quota::per_minute(65_536)).to_any();
    let tiers = [Tier {
        versions: vec![algorithm],
        shadow: false,
    }];
    let acquire = |percent| Action::Acquire(vec![(true, Size::Percent(percent))]);
    let actions = [
        acquire(40),
        acquire(60),
        acquire(1),
        Action::Settle(1, [Size::Percent(200); 2], true),
        acquire(1),
    ];
    let steps = actions
        .into_iter()
        .map(|action| (Elapse::Percent(40), action))
        .collect();
    for server in RedisServer::each() {
        let (by_memory, memory) = AnyStore::memory();
        let stores = [by_memory, AnyStore::redis(&server, "rate_limit")];
        let mut client = server.client();
        let mut inspect = |replay: &Replay<'_>, _: &Decision| assert_same_states(&memory, &mut client, replay);
        Replay::new(&stores, &tiers, 0).run(&steps, &mut inspect).await;
    }
}

/// The reply of PEXPIRETIME for a missing key.
const NO_KEY: i64 = -2;

/// Asserts that every key of the decision expires in the millisecond in which its limit has reset.
fn assert_expiry(client: &mut Connection, replay: &Replay<'_>, decision: &Decision) {
    for tier in decision.tiers() {
        let name = format!("rate_limit:{}:{}", tier.limit(), replay.key);
        let expires_at: i64 = cmd("PEXPIRETIME").arg(&name).query(client).unwrap();
        let reset_after = tier.verdict().reset_after().as_micros() as Micros;
        let resets_at = (decision.now() + reset_after).div_ceil(1000) as i64;
        match (expires_at, reset_after) {
            (NO_KEY, 0) => {}
            (NO_KEY, _) => assert!(time(client) as i64 / 1000 >= resets_at, "{name} expired too early"),
            (_, 0) => assert!(expires_at <= resets_at, "{name} outlives its state"),
            _ => assert_eq!(expires_at, resets_at, "{name}"),
        }
    }
}

/// On the server's clock. Changed limits are left out: their `reset_after` differs from the expiry time that was set before.
#[test]
fn a_key_expires_with_its_state() {
    for server in RedisServer::each() {
        let (stores, client) = ([AnyStore::redis_on_server_time(&server)], RefCell::new(server.client()));
        run(1000, async |number, tiers, mut steps| {
            steps.retain(|(_, action)| !matches!(action, Action::Change(_)));
            let mut inspect = |replay: &Replay<'_>, decision: &Decision| {
                assert_expiry(&mut client.borrow_mut(), replay, decision);
                0
            };
            Replay::new(&stores, tiers, number).run(&steps, &mut inspect).await;
        });
    }
}
